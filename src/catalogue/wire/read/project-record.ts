import { type DayMeaning, expectedDay, type IsoDate, isoDateOf } from '../../../kernel/dates.js'
import type { FieldProblem } from '../../../kernel/errors.js'
import { isWhole, signOf } from '../../../kernel/money.js'
import { columnFields, type Noun, wireNameOf } from '../../../kernel/nouns/field.js'
import { organisationFields } from '../../../kernel/nouns/organisation.js'
import { projectFields } from '../../../kernel/nouns/project.js'
import { type Country, type DonationOption, type ProjectStatus, renditions } from '../../../kernel/project.js'
import {
  anyType,
  isRecord,
  type MemberType,
  type MemberTypes,
  mapped,
  objectType,
  optional,
  otherwise,
  ValuePlace,
} from '../../../kernel/read-object.js'
import type { ImageRecord, OrganisationRecord, ProjectRecord, ThemeRecord } from '../../../kernel/record.js'
import { shownValue, wordOf } from '../../../kernel/values.js'
import { objectsOf, type ParsedValue } from './parsed-value.js'
import { organisationPublication, projectPublication } from './publication-fields.js'
import { objectsIn, ofRecords, parsedType, partType, recordTypes, wrapped } from './record-types.js'

/** A record, or all of its problems and, where readable, its id. */
export type ParsedRecord<T> =
  | { readonly record: T }
  | { readonly problems: readonly FieldProblem[]; readonly recordId?: string }

/**
 * Reads a project record (wire.md 3.1), from XML or JSON alike. Lenient where old clients and captures are odd: numbers as
 * texts, one object for a list, a missing organisation, empty texts (absent), any offset in dates, unknown fields (kept).
 * Strict where a wrong value would be published: id, active, status, title, money, counts of donations, dates.
 */
export function parseProjectRecord(value: ParsedValue, today: IsoDate): ParsedRecord<ProjectRecord> {
  return readingOf(value, 'a project object', '', projectType, (record, place) => refuseDays(place, record, today))
}

/** Refuses days that no person would mean. */
function refuseDays(place: ValuePlace, record: ProjectRecord, today: IsoDate): void {
  const { approvedDate, modifiedDate, dateOfMostRecentReport, publication } = record
  const refuse = (path: readonly string[], day: Date | IsoDate | undefined, meaning: DayMeaning) => {
    const text = day instanceof Date ? isoDateOf(day) : day
    const expected = text && expectedDay(text, meaning, today)
    if (expected) path.reduce((at, name) => at.at(name), place).refuse(expected, text)
  }
  refuse(['approvedDate'], approvedDate, 'plan')
  refuse(['modifiedDate'], modifiedDate, 'fact')
  refuse(['dateOfMostRecentReport'], dateOfMostRecentReport, 'fact')
  refuse(['iati', 'deadline'], publication?.deadline, 'deadline')
  for (const { plannedOn } of publication?.payouts ?? [])
    refuse(['iati', 'payouts', 'payout', 'day'], plannedOn as IsoDate, 'plan')
}

/** Reads an organisation record (wire.md 3.3), as leniently as one inside a project. */
export function parseOrganisationRecord(value: ParsedValue): ParsedRecord<OrganisationRecord> {
  return readingOf(value, 'an organization object', 'organization', organisationType)
}

/** Reads a picture of a gallery (wire.md 3.4); undefined when it has no rendition, or cannot be read. */
export function parseImageRecord(value: ParsedValue): ImageRecord | undefined {
  if (isRecord(value) && renditionsOf(value).length === 0) return undefined
  const reading = readingOf(value, 'an image', '', imageType)
  return 'record' in reading ? reading.record : undefined
}

function readingOf<T>(
  value: ParsedValue,
  expected: string,
  path: string,
  type: MemberType<T>,
  check?: (record: T, place: ValuePlace) => void,
): ParsedRecord<T> {
  if (!isRecord(value)) {
    const problem = { field: 'record', expected }
    return { problems: [value === '' ? problem : { ...problem, got: shownValue(value) }] }
  }
  const place = new ValuePlace(ofRecords, [], path)
  const record = place.read(type, value)
  if (record !== undefined) check?.(record, place)
  const { problems } = place
  if (record !== undefined && problems.length === 0) return { record }
  const { id } = value
  return { problems, ...(typeof id === 'string' && id !== '' && { recordId: id.slice(0, 40) }) }
}

const { text, textOrEmpty, count, triedCount, money } = recordTypes

/** A code of two letters; another text counts as absent. */
const country = optional<string>({
  ...text,
  isAbsent: (value) => text.isAbsent?.(value) || (typeof value === 'string' && toCountryCode(value) === undefined),
  read: (value) => (typeof value === 'string' ? toCountryCode(value) : undefined),
})

const status = parsedType({
  ...wordOf<ProjectStatus>('active', 'funded', 'retired'),
  expected: 'active, funded or retired',
})

const kinds: Readonly<Record<string, MemberType>> = {
  text: recordTypes.requiredText,
  'text?': text,
  'textOrEmpty?': textOrEmpty,
  'address?': text,
  'addressOrEmpty?': textOrEmpty,
  'country?': country,
  id: recordTypes.id,
  'count?': triedCount,
  'bigint?': recordTypes.bigint,
  boolean: recordTypes.truth,
  'money?': optional(money),
  'latitude?': recordTypes.latitude,
  'longitude?': recordTypes.longitude,
  'instant?': recordTypes.instant,
  status,
}

/** The fields that a record of the noun states, by their names there, but for those that it reads in its own way. */
function statedBy(noun: Noun, own: readonly string[] = []): MemberTypes {
  const fields = columnFields(noun, ['record']).flatMap((one) => {
    const type = own.includes(one.field) ? undefined : kinds[one.kind]
    return type ? [[wireNameOf(one), { ...type, as: one.field }] as const] : []
  })
  return Object.fromEntries(fields)
}

function renditionsOf(image: object): (readonly [string, string])[] {
  const links = objectsOf('imagelink' in image ? (image.imagelink as ParsedValue) : undefined)
  return renditions.flatMap((size) => {
    const url = plainText(links.findLast((link) => link.size === size && plainText(link.url) !== undefined)?.url)
    return url === undefined ? [] : [[size, url] as const]
  })
}

/** A picture; one without a rendition is none. */
const imageType: MemberType<ImageRecord> = mapped(
  objectType({ imagelink: optional(anyType), id: triedCount, title: text }),
  ({ id, title, ...image }) => ({
    wireId: id ?? 0,
    ...(title !== undefined && { title }),
    renditions: Object.fromEntries(renditionsOf(image)),
  }),
)
/** Lists of which what cannot be read is left out. */
const lists = {
  themes: lenient((value) => {
    const themes = objectsIn(value, 'theme').flatMap((theme): ThemeRecord[] => {
      const id = plainText(theme.id)
      return id === undefined ? [] : [{ id, name: plainText(theme.name) ?? id }]
    })
    return distinct(themes, (theme) => theme.id)
  }),
  countries: lenient((value) => {
    const countries = objectsIn(value, 'country').flatMap((one): Country[] => {
      const code = toCountryCode(plainText(one.iso3166CountryCode))
      return code === undefined ? [] : [{ code, name: plainText(one.name) ?? code }]
    })
    return distinct(countries, (one) => one.code)
  }),
}

function lenient<T>(read: (value: unknown) => T[]): MemberType<T[]> {
  return { expected: 'a list', read }
}

// Hashes of stored records depend on the order of the members: in another order every record would be saved again.
const organisationType = objectType(
  {
    ...statedBy(organisationFields),
    totalProjects: { ...triedCount, as: 'statedTotalProjects' },
    activeProjects: { ...triedCount, as: 'statedActiveProjects' },
    iati: { ...partType(organisationPublication), as: 'publication' },
    ...lists,
  },
  'unknownFields',
) as unknown as MemberType<OrganisationRecord>

const givenAmount = mapped(money, (amount, place) => {
  // Nobody can give an amount of 0.
  if (signOf(amount) > 0 && !isWhole(amount)) place.refuse('a whole number, since clients read it as one', amount)
  return amount
})

const options = mapped(
  wrapped('donationOption', { amount: optional(givenAmount), description: text }),
  (given): DonationOption[] =>
    given.flatMap(({ amount, description }) =>
      amount === undefined || signOf(amount) <= 0
        ? []
        : [{ amount, ...(description !== undefined && { description }) }],
    ),
)

const projectImage = partType(imageType)

const projectType = mapped(
  objectType(
    {
      ...statedBy(projectFields, ['funding', 'numberOfDonations']),
      type: otherwise(text, 'project'),
      organization: { ...partType(organisationType), as: 'organisation' },
      image: {
        ...projectImage,
        isAbsent: (value) => projectImage.isAbsent?.(value) || (isRecord(value) && renditionsOf(value).length === 0),
      },
      iati: { ...partType(projectPublication), as: 'publication' },
      funding: money,
      numberOfDonations: otherwise(count, 0),
      countries: lists.countries,
      themes: lists.themes,
      videos: mapped(wrapped('video', { url: textOrEmpty }), (videos) => videos.flatMap(({ url }) => url ?? [])),
      donationOptions: options,
    },
    'unknownFields',
  ) as unknown as MemberType<ProjectRecord>,
  (record) => {
    const { countries, countryCode: code, countryName: name } = record
    // Records without a list still name one country.
    return countries.length > 0 || code === undefined
      ? record
      : { ...record, countries: [{ code, name: name ?? code }] }
  },
)

/** A text in a list; a value of another kind counts as absent. */
function plainText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function toCountryCode(text: string | undefined): string | undefined {
  const code = text?.trim().toUpperCase()
  return code !== undefined && /^[A-Z]{2}$/.test(code) ? code : undefined
}

function distinct<T>(items: readonly T[], key: (item: T) => string): T[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const isNew = !seen.has(key(item))
    seen.add(key(item))
    return isNew
  })
}
