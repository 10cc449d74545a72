import { type DayMeaning, expectedDay, type IsoDate, isoDateOf } from '../../../kernel/dates.js'
import type { FieldProblem } from '../../../kernel/errors.js'
import { isWhole, signOf } from '../../../kernel/money.js'
import { columnFields, type Noun, wireNameOf } from '../../../kernel/nouns/field.js'
import { type OrganisationFields, organisationFields } from '../../../kernel/nouns/organisation.js'
import { type ProjectFields, projectFields } from '../../../kernel/nouns/project.js'
import { type Country, type DonationOption, type ProjectStatus, renditions } from '../../../kernel/project.js'
import type { ImageRecord, OrganisationRecord, ProjectRecord, ThemeRecord } from '../../../kernel/record.js'
import { shownValue, wordOf } from '../../../kernel/values.js'
import { isObject, objectsOf, type ParsedValue } from './parsed-value.js'
import { readOrganisationPublication, readProjectPublication } from './publication-fields.js'
import { RecordReader } from './record-reader.js'

/** A record, or all of its problems and, where readable, its id. */
export type Reading<T> =
  | { readonly record: T }
  | { readonly problems: readonly FieldProblem[]; readonly recordId?: string }

/**
 * Reads a project record (wire.md 3.1), from XML or JSON alike. Lenient where old clients and captures are odd: numbers as
 * texts, one object for a list, a missing organisation, empty texts (absent), any offset in dates, unknown fields (kept).
 * Strict where a wrong value would be published: id, active, status, title, money, counts of donations, dates.
 */
export function parseProjectRecord(value: ParsedValue, today: IsoDate): Reading<ProjectRecord> {
  return readingOf(value, 'a project object', '', (reader) => {
    const record = readProject(reader)
    refuseDays(reader, record, today)
    return record
  })
}

/** Refuses days that no person would mean. */
function refuseDays(reader: RecordReader, record: ProjectRecord, today: IsoDate): void {
  const { approvedDate, modifiedDate, dateOfMostRecentReport, publication } = record
  const refuse = (field: string, day: Date | IsoDate | undefined, meaning: DayMeaning) => {
    const text = day instanceof Date ? isoDateOf(day) : day
    const expected = text && expectedDay(text, meaning, today)
    if (expected) reader.refuse(field, expected, text)
  }
  refuse('approvedDate', approvedDate, 'plan')
  refuse('modifiedDate', modifiedDate, 'fact')
  refuse('dateOfMostRecentReport', dateOfMostRecentReport, 'fact')
  refuse('iati/deadline', publication?.deadline, 'deadline')
  for (const { plannedOn } of publication?.payouts ?? [])
    refuse('iati/payouts/payout/day', plannedOn as IsoDate, 'plan')
}

/** Reads an organisation record (wire.md 3.3), as leniently as one inside a project. */
export function parseOrganisationRecord(value: ParsedValue): Reading<OrganisationRecord> {
  return readingOf(value, 'an organization object', 'organization/', readOrganisation)
}

/** Reads a picture of a gallery (wire.md 3.4); undefined when it has no rendition. */
export function parseImageRecord(value: ParsedValue): ImageRecord | undefined {
  const reading = readingOf(value, 'an image', '', readImage)
  return 'record' in reading ? reading.record : undefined
}

function readingOf<T>(
  value: ParsedValue,
  expected: string,
  path: string,
  read: (reader: RecordReader) => T,
): Reading<T> {
  if (!isObject(value)) {
    const problem = { field: 'record', expected }
    return { problems: [value === '' ? problem : { ...problem, got: shownValue(value) }] }
  }
  const reader = new RecordReader(value, path)
  const record = read(reader)
  const { problems } = reader
  if (problems.length === 0) return { record }
  const { id } = value
  return { problems, ...(typeof id === 'string' && id !== '' && { recordId: id.slice(0, 40) }) }
}

type ReadField = (reader: RecordReader, name: string) => unknown

const status = { ...wordOf<ProjectStatus>('active', 'funded', 'retired'), expected: 'active, funded or retired' }

const kinds: Readonly<Record<string, ReadField>> = {
  text: (reader, name) => reader.requiredText(name),
  'text?': (reader, name) => reader.text(name),
  'textOrEmpty?': (reader, name) => reader.textOrEmpty(name),
  'address?': (reader, name) => reader.text(name),
  'addressOrEmpty?': (reader, name) => reader.textOrEmpty(name),
  'country?': (reader, name) => toCountryCode(reader.text(name)),
  id: (reader, name) => reader.requiredId(name),
  'count?': (reader, name) => reader.tryCount(name),
  'bigint?': (reader, name) => reader.tryBigint(name),
  boolean: (reader, name) => reader.requiredBoolean(name),
  'money?': (reader, name) => reader.money(name),
  'latitude?': (reader, name) => reader.tryCoordinate(name, 90),
  'longitude?': (reader, name) => reader.tryCoordinate(name, 180),
  'instant?': (reader, name) => reader.instant(name),
  status: (reader, name) => reader.required(name, status, 'active'),
}

/** How to read the fields that a record of the noun states, but for those that it reads in its own way. */
function readingsOf(noun: Noun, own: Readonly<Record<string, ReadField | undefined>> = {}) {
  return columnFields(noun, ['record']).flatMap((one) => {
    const read = Object.hasOwn(own, one.field) ? own[one.field] : kinds[one.kind]
    return read ? [{ field: one.field, name: wireNameOf(one), read }] : []
  })
}

const projectReadings = readingsOf(projectFields, {
  type: (reader, name) => reader.text(name) ?? 'project',
  funding: undefined,
  numberOfDonations: undefined,
})
const organisationReadings = readingsOf(organisationFields)

/** The fields that are present. */
function readFields<T>(reader: RecordReader, readings: typeof projectReadings): T {
  const values: Record<string, unknown> = {}
  for (const { field, name, read } of readings) {
    const value = read(reader, name)
    if (value !== undefined) values[field] = value
  }
  return values as T
}

// Hashes of stored records depend on the order of the members: in another order every record would be saved again.
function readProject(reader: RecordReader): ProjectRecord {
  const fields = readFields<ProjectFields<'record'>>(reader, projectReadings)
  const { countryCode, countryName } = fields
  const countries = readCountries(reader)
  const record = {
    ...fields,
    ...present('organisation', readPart(reader, 'organization', readOrganisation)),
    ...present('image', readPart(reader, 'image', readImage)),
    ...present('publication', readPart(reader, 'iati', readProjectPublication)),
    funding: reader.requiredMoney('funding'),
    numberOfDonations: reader.count('numberOfDonations') ?? 0,
    // Records without a list still name one country.
    countries:
      countries.length > 0 || countryCode === undefined
        ? countries
        : [{ code: countryCode, name: countryName ?? countryCode }],
    themes: readThemes(reader),
    videos: reader.parts('videos', 'video').flatMap((video) => video.textOrEmpty('url') ?? []),
    donationOptions: readDonationOptions(reader),
  }
  return { ...record, ...present('unknownFields', reader.unknown()) }
}

function readOrganisation(reader: RecordReader): OrganisationRecord {
  const organisation = {
    ...readFields<OrganisationFields<'record'>>(reader, organisationReadings),
    ...present('statedTotalProjects', reader.tryCount('totalProjects')),
    ...present('statedActiveProjects', reader.tryCount('activeProjects')),
    ...present('publication', readPart(reader, 'iati', readOrganisationPublication)),
    themes: readThemes(reader),
    countries: readCountries(reader),
  }
  return { ...organisation, ...present('unknownFields', reader.unknown()) }
}

function readPart<T>(reader: RecordReader, name: string, read: (part: RecordReader) => T): T | undefined {
  const part = reader.part(name)
  return part && read(part)
}

/** An object with this member, or an empty one where the value is absent. */
function present<Name extends string, T>(name: Name, value: T | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { readonly [K in Name]?: T }
}

function readThemes(reader: RecordReader): ThemeRecord[] {
  const themes = reader.list('themes', 'theme').flatMap((theme) => {
    const id = plainText(theme.id)
    return id === undefined ? [] : [{ id, name: plainText(theme.name) ?? id }]
  })
  return distinct(themes, (theme) => theme.id)
}

function readCountries(reader: RecordReader): Country[] {
  const countries = reader.list('countries', 'country').flatMap((country) => {
    const code = toCountryCode(plainText(country.iso3166CountryCode))
    return code === undefined ? [] : [{ code, name: plainText(country.name) ?? code }]
  })
  return distinct(countries, (country) => country.code)
}

function readImage(image: RecordReader): ImageRecord | undefined {
  const links = objectsOf(image.value('imagelink'))
  const found = renditions.flatMap((size) => {
    const url = plainText(links.findLast((link) => link.size === size && plainText(link.url) !== undefined)?.url)
    return url === undefined ? [] : [[size, url]]
  })
  if (found.length === 0) return undefined
  return {
    wireId: image.tryCount('id') ?? 0,
    ...present('title', image.text('title')),
    renditions: Object.fromEntries(found),
  }
}

function readDonationOptions(reader: RecordReader): DonationOption[] {
  return reader.parts('donationOptions', 'donationOption').flatMap((option) => {
    const amount = option.money('amount')
    // Nobody can give an amount of 0.
    if (amount === undefined || signOf(amount) <= 0) return []
    if (!isWhole(amount)) option.refuse('amount', 'a whole number, since clients read it as one', amount)
    return [{ amount, ...present('description', option.text('description')) }]
  })
}

/** A text in a list; a value of another kind counts as absent. */
function plainText(value: ParsedValue | undefined): string | undefined {
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
