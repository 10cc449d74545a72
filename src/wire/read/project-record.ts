import type { FieldProblem } from '../../domain/errors.js'
import { signOf } from '../../domain/money.js'
import type { Country, DonationOption, PhotoRenditions, ProjectStatus } from '../../domain/project.js'
import type { ImageRecord, OrganisationRecord, ProjectRecord, ThemeRecord } from '../../domain/record.js'
import { readOrganisationPublication, readProjectPublication } from './publication-fields.js'
import { FieldReader, isObject } from './record-fields.js'
import type { WireObject, WireValue } from './wire-value.js'

/** A record that could be read, or everything that is wrong with it and its id as far as it can be told. */
export type RecordReading =
  | { readonly record: ProjectRecord }
  | { readonly problems: readonly FieldProblem[]; readonly recordId?: string }

/**
 * Reads one project record (wire.md 3.1), from XML or JSON alike. Lenient where old clients and captures are odd:
 * numbers as texts, one object for a list, a missing organisation, empty texts (absent), any offset in dates, fields
 * unknown to us (kept). Strict where a wrong value would be published: id, active, status, title, money, counts of
 * donations, dates; these refuse the record.
 */
export function parseProjectRecord(value: WireValue): RecordReading {
  if (!isObject(value)) return { problems: [{ field: 'record', expected: 'a project object' }] }
  const problems: FieldProblem[] = []
  const record = readProject(value, problems)
  if (problems.length === 0) return { record }
  const id = value.id
  return { problems, ...(typeof id === 'string' && id !== '' && { recordId: id.slice(0, 40) }) }
}

/** An organisation record (wire.md 3.3) that could be read, or what is wrong with it. */
export type OrganisationReading =
  | { readonly organisation: OrganisationRecord }
  | { readonly problems: readonly FieldProblem[]; readonly recordId?: string }

/** Reads an organisation record that stands alone, as leniently as one inside a project. */
export function parseOrganisationRecord(value: WireValue): OrganisationReading {
  if (!isObject(value)) return { problems: [{ field: 'record', expected: 'an organization object' }] }
  const problems: FieldProblem[] = []
  const organisation = readOrganisation(new FieldReader({ organization: value }, '', problems), problems)
  if (organisation && problems.length === 0) return { organisation }
  const id = value.id
  return {
    problems: problems.length > 0 ? problems : [{ field: 'organization', expected: 'an organization object' }],
    ...(typeof id === 'string' && id !== '' && { recordId: id.slice(0, 40) }),
  }
}

/** Reads a picture of a gallery (wire.md 3.4); undefined when it has no rendition. */
export function parseImageRecord(value: WireValue): ImageRecord | undefined {
  if (!isObject(value)) return undefined
  const problems: FieldProblem[] = []
  const image = readImage(new FieldReader({ image: value }, '', problems), problems)
  return problems.length === 0 ? image : undefined
}

const textFields = [
  'summary',
  'need',
  'longTermImpact',
  'activities',
  'notice',
  'additionalDocumentation',
  'contactName',
  'contactTitle',
  'contactAddress',
  'contactAddress2',
  'contactCity',
  'contactState',
  'contactPostal',
  'contactCountry',
  'contactUrl',
  'projectLink',
  'progressReportLink',
  'themeName',
  'imageLink',
] as const

function readProject(object: WireObject, problems: FieldProblem[]): ProjectRecord {
  const fields = new FieldReader(object, '', problems)
  const countryName = fields.text('country')
  const countryCode = toCountryCode(fields.text('iso3166CountryCode'))
  const countries = readCountries(fields)
  const record = {
    id: fields.requiredId('id'),
    active: fields.requiredBoolean('active'),
    status: readStatus(fields),
    type: fields.text('type') ?? 'project',
    title: fields.requiredText('title'),
    ...readTexts(fields, textFields),
    ...optional({
      countryName,
      countryCode,
      regionName: fields.text('region'),
      goal: fields.money('goal'),
      remaining: fields.money('remaining'),
      numberOfReports: fields.tryCount('numberOfReports'),
      dateOfMostRecentReport: fields.instant('dateOfMostRecentReport'),
      imageGallerySize: fields.tryCount('imageGallerySize'),
      latitude: fields.tryCoordinate('latitude', 90),
      longitude: fields.tryCoordinate('longitude', 180),
      approvedDate: fields.instant('approvedDate'),
      modifiedDate: fields.instant('modifiedDate'),
      organisation: readOrganisation(fields, problems),
      image: readImage(fields, problems),
      publication: readProjectPublication(fields, problems),
    }),
    funding: fields.requiredMoney('funding'),
    numberOfDonations: fields.count('numberOfDonations') ?? 0,
    // Records without a list still name one country.
    countries:
      countries.length > 0 || countryCode === undefined
        ? countries
        : [{ code: countryCode, name: countryName ?? countryCode }],
    themes: readThemes(fields),
    videos: fields
      .list('videos', 'video')
      .flatMap((video) => new FieldReader(video, 'videos/', problems).text('url') ?? []),
    donationOptions: readDonationOptions(fields, problems),
  }
  const unknownFields = fields.unknown()
  return unknownFields === undefined ? record : { ...record, unknownFields }
}

const statuses: readonly ProjectStatus[] = ['active', 'funded', 'retired']

function readStatus(fields: FieldReader): ProjectStatus {
  const text = fields.text('status')?.trim()
  const status = statuses.find((known) => known === text)
  if (status === undefined) fields.refuse('status', 'active, funded or retired', fields.value('status'))
  return status ?? 'active'
}

const organisationTexts = [
  'ein',
  'addressLine1',
  'addressLine2',
  'city',
  'state',
  'postal',
  'url',
  'logoUrl',
  'mission',
] as const

function readOrganisation(project: FieldReader, problems: FieldProblem[]): OrganisationRecord | undefined {
  const object = project.object('organization')
  if (object === undefined) return undefined
  const fields = new FieldReader(object, 'organization/', problems)
  const organisation = {
    id: fields.requiredId('id'),
    name: fields.requiredText('name'),
    ...readTexts(fields, organisationTexts),
    ...optional({
      bridgeId: fields.tryBigint('bridgeId'),
      countryCode: toCountryCode(fields.text('iso3166CountryCode')),
      countryName: fields.text('country'),
      statedTotalProjects: fields.tryCount('totalProjects'),
      statedActiveProjects: fields.tryCount('activeProjects'),
      publication: readOrganisationPublication(fields, problems),
    }),
    themes: readThemes(fields),
    countries: readCountries(fields),
  }
  const unknownFields = fields.unknown()
  return unknownFields === undefined ? organisation : { ...organisation, unknownFields }
}

function readThemes(fields: FieldReader): ThemeRecord[] {
  const themes = fields.list('themes', 'theme').flatMap((theme) => {
    const id = plainText(theme.id)
    return id === undefined ? [] : [{ id, name: plainText(theme.name) ?? id }]
  })
  return distinct(themes, (theme) => theme.id)
}

function readCountries(fields: FieldReader): Country[] {
  const countries = fields.list('countries', 'country').flatMap((country) => {
    const code = toCountryCode(plainText(country.iso3166CountryCode))
    return code === undefined ? [] : [{ code, name: plainText(country.name) ?? code }]
  })
  return distinct(countries, (country) => country.code)
}

const sizes = ['small', 'thumbnail', 'medium', 'large', 'extraLarge', 'original'] as const

function readImage(project: FieldReader, problems: FieldProblem[]): ImageRecord | undefined {
  const object = project.object('image')
  if (object === undefined) return undefined
  const fields = new FieldReader(object, 'image/', problems)
  const bySize = new Map<string, string>()
  // `imagelink` repeats without a wrapper, so the image itself plays that part.
  for (const link of new FieldReader({ image: object }, '', problems).list('image', 'imagelink')) {
    const size = plainText(link.size)
    const url = plainText(link.url)
    if (size !== undefined && url !== undefined) bySize.set(size, url)
  }
  const renditions: PhotoRenditions = Object.fromEntries(
    sizes.flatMap((size) => {
      const url = bySize.get(size)
      return url === undefined ? [] : [[size, url]]
    }),
  )
  if (Object.keys(renditions).length === 0) return undefined
  const title = fields.text('title')
  return { wireId: fields.tryCount('id') ?? 0, ...(title !== undefined && { title }), renditions }
}

function readDonationOptions(project: FieldReader, problems: FieldProblem[]): DonationOption[] {
  return project.list('donationOptions', 'donationOption').flatMap((option) => {
    const fields = new FieldReader(option, 'donationOptions/', problems)
    const amount = fields.money('amount')
    const description = fields.text('description')
    // An option of nothing cannot be given.
    if (amount === undefined || signOf(amount) <= 0) return []
    return [{ amount, ...(description !== undefined && { description }) }]
  })
}

function readTexts<Name extends string>(fields: FieldReader, names: readonly Name[]): { [K in Name]?: string } {
  const texts: { [K in Name]?: string } = {}
  for (const name of names) {
    const text = fields.text(name)
    if (text !== undefined) texts[name] = text
  }
  return texts
}

/** The object without its undefined values. */
function optional<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function plainText(value: WireValue | undefined): string | undefined {
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
