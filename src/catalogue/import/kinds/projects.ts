import { expectedDay } from '../../../kernel/dates.js'
import type { FieldProblem } from '../../../kernel/errors.js'
import { parseDecimal, toMinorUnits } from '../../../kernel/money.js'
import type { Country } from '../../../kernel/project.js'
import type { HashedRecord, ProjectPublication, ProjectRecord } from '../../../kernel/record.js'
import type { Db } from '../../../platform/database/connection.js'
import { organisationSources } from '../../sql/organisations.js'
import { deriveRemaining } from '../../sql/project-sources.js'
import { type SavedRecords, saveRecords } from '../../sql/save-records.js'
import { findThemeIds } from '../../sql/theme-lookup.js'
import { countryNameOf } from '../country-names.js'
import * as type from '../field-types.js'
import { externalIdOf, type KindFields, type RowOf } from '../fields.js'
import { toHashedRecord } from '../hashed-record.js'
import { defineKind, type ImportSaving, type RecordOutcome } from '../kind.js'
import { unknownTheme } from '../unknown-theme.js'

const projectKindFields = {
  id: {
    type: type.identifier,
    required: true,
    numbers: 'project',
    means: "The platform's number of the project. It never changes.",
    examples: ['101', '102'],
    api: 'id',
    iati: 'iati-identifier, other-identifier',
  },
  externalId: externalIdOf('the project'),
  title: {
    type: type.text,
    required: true,
    means: 'Title.',
    examples: ['Wells for Tara', 'Desks for Gulu'],
    api: 'title',
    iati: 'title',
  },
  status: {
    type: type.choice('active', 'funded', 'retired'),
    required: true,
    means: 'active collects, funded has what it needs, retired is over.',
    examples: ['active', 'funded'],
    api: 'status',
    iati: 'activity-status',
  },
  active: {
    type: type.yesNo,
    means: 'Whether it takes donations. Left out: when its status is active.',
    examples: ['', 'no'],
    api: 'active; the API answers 410 for a project that is not active',
    iati: 'activity-status 6 (suspended) when the status is active',
  },
  paused: {
    type: type.yesNo,
    kept: true,
    means: "The operator's halt.",
    examples: ['', ''],
    iati: 'activity-status 6',
  },
  type: {
    type: type.text,
    means: 'project or microproject. Left out: project.',
    examples: ['', ''],
    api: 'type',
  },
  organization: {
    type: type.organisationReference,
    means: 'Number or externalId of the partner that carries it out; import organisations first.',
    examples: ['7', '8'],
    api: 'organization',
    iati: 'participating-org role 4 (implementing)',
  },
  summary: {
    type: type.text,
    means: 'Summary.',
    examples: ['Four village wells in the Bo district.', '120 desks for two schools.'],
    api: 'summary',
    iati: 'description type 1',
  },
  need: {
    type: type.text,
    means: 'The need.',
    examples: ['Water is an hour away.', ''],
    api: 'need',
    iati: 'description type 2',
  },
  longTermImpact: {
    type: type.text,
    means: 'Long-term impact.',
    examples: ['', ''],
    api: 'longTermImpact',
    iati: 'description type 2',
  },
  activities: {
    type: type.text,
    means: 'Planned work.',
    examples: ['Drill and cap four wells.', ''],
    api: 'activities',
    iati: 'description type 4',
  },
  themes: {
    type: type.listOf(type.text),
    means: 'Themes by id or by name, the main one first.',
    examples: ['water|Physical Health', 'Education'],
    api: 'themes, themeName',
    iati: 'sector (vocabulary 1 by the table of themes, vocabulary 99)',
  },
  countries: {
    type: type.entriesOf('countries such as KE|UG, or with shares in per cent such as KE:60|UG:40', {
      country: { type: type.country },
      share: { type: type.share, optional: true },
    }),
    means: 'Countries of ISO 3166-1, the main one first; with shares for all of them, or for none.',
    unit: 'per cent, sum 100',
    examples: ['SL', 'KE:60|UG:40'],
    api: 'countries, country, iso3166CountryCode',
    iati: 'recipient-country',
  },
  region: {
    type: type.text,
    means: 'Region of the main country.',
    examples: ['Africa', 'Africa'],
    api: 'region',
  },
  latitude: {
    type: type.latitude,
    unit: 'degrees (WGS 84)',
    means: 'Latitude.',
    examples: ['7.9647', ''],
    api: 'latitude',
    iati: 'location/point',
  },
  longitude: {
    type: type.longitude,
    unit: 'degrees (WGS 84)',
    means: 'Longitude.',
    examples: ['-11.7383', ''],
    api: 'longitude',
    iati: 'location/point',
  },
  locationPrecision: {
    type: type.choice('point', 'country'),
    kept: true,
    means: 'country where a place would endanger people: then no coordinates are shown anywhere.',
    examples: ['point', 'country'],
    api: 'without coordinates for country',
    iati: 'without location for country',
  },
  locationName: {
    type: type.text,
    kept: true,
    cleared: { table: 'project', columns: ['location_name'] },
    means: 'Populated place that the coordinates stand for.',
    examples: ['Bo', ''],
    iati: 'location/name',
  },
  goal: {
    type: type.amount,
    unit: 'DEFAULT_CURRENCY',
    means: 'Amount to be raised.',
    examples: ['8000.00', '12500.00'],
    api: 'goal, remaining',
    iati: 'budget',
  },
  funding: {
    type: type.amount,
    unit: 'DEFAULT_CURRENCY',
    means:
      'Total that was raised, where the gifts themselves are not imported. Left out: the total follows from the gifts.',
    examples: ['', '12500.00'],
    api: 'funding',
    iati: 'transaction type 1, one line described as cumulative',
  },
  numberOfDonations: {
    type: type.count,
    means: 'Number of donations in that total.',
    examples: ['', '310'],
    api: 'numberOfDonations',
  },
  approvedDate: {
    type: type.instant,
    day: 'plan',
    means: 'Day or instant of approval.',
    examples: ['2025-01-05', '2024-08-20T09:30:00+00:00'],
    api: 'approvedDate',
    iati: 'activity-date type 1',
  },
  modifiedDate: {
    type: type.instant,
    day: 'fact',
    means: 'Day or instant of the last change.',
    examples: ['2025-10-01', '2025-05-31'],
    api: 'modifiedDate',
  },
  deadline: {
    type: type.day,
    day: 'deadline',
    kept: true,
    cleared: { table: 'project', columns: ['deadline'] },
    means: 'Day on which the collection ends.',
    examples: ['2027-06-30', ''],
    iati: 'activity-date type 3, periods of budget',
  },
  sdgs: {
    type: type.listOf(type.sdg),
    kept: true,
    cleared: 'empty list',
    means: 'Goals and targets of the Sustainable Development Goals.',
    examples: ['6.1|13', '4'],
    iati: 'tag (vocabularies 2 and 3)',
  },
  payouts: {
    type: type.entriesOf('payouts such as P-1:2027-03-31:2500.00|P-2:2027-09-30:2500.00', {
      reference: { type: type.text },
      date: { type: type.day },
      amount: { type: type.positiveAmount },
    }),
    kept: true,
    cleared: 'empty list',
    unit: 'DEFAULT_CURRENCY',
    means: 'Payouts that are agreed on, as reference:day:amount; the kind payout-plans is another way to import them.',
    examples: ['P-1:2027-03-31:2500.00', ''],
    iati: 'planned-disbursement',
  },
  glideNumber: {
    type: type.shaped('GLIDE number', 'a GLIDE number such as FL-2026-000123-SLE', /^[A-Z]{2}-\d{4}-\d{6}-[A-Z]{3}$/),
    kept: true,
    cleared: { table: 'project', columns: ['glide_number'] },
    means: 'GLIDE number of the emergency that it answers to.',
    examples: ['', ''],
    iati: 'humanitarian-scope',
  },
  iatiIdentifier: {
    type: type.shaped(
      'IATI identifier',
      'an identifier such as GB-CHC-1164883-WELLS: at most 255 characters of ASCII, no white space and none of / & | ? < > " \\',
      // The store knows which projects moved here with an identifier that would not be given anew.
      /^(?=.{1,1000}$)[^\s\p{Cc}](?:\P{Cc}*[^\s\p{Cc}])?$/u,
    ),
    kept: true,
    cleared: { table: 'project', columns: ['iati_identifier'] },
    means:
      "Identifier under which it is published elsewhere already; it begins with the publisher's. Left out: the publisher's, a hyphen and the id. It never changes once it is published here.",
    examples: ['', ''],
    iati: 'iati-identifier',
  },
  imageLink: {
    type: type.address,
    means: 'Main picture; the kind images holds its sizes and the gallery.',
    examples: ['https://platform.example/img/101.jpg', ''],
    api: 'imageLink',
  },
  projectLink: {
    type: type.address,
    means: 'Page of the project.',
    examples: ['https://platform.example/projects/101', 'https://platform.example/projects/102'],
    api: 'projectLink',
    iati: 'document-link A12',
  },
  progressReportLink: {
    type: type.address,
    means: 'Page of its progress reports.',
    examples: ['https://platform.example/projects/101/reports', ''],
    api: 'progressReportLink',
    iati: 'document-link A08',
  },
  additionalDocumentation: {
    type: type.address,
    means: 'A further document.',
    examples: ['', ''],
    api: 'additionalDocumentation',
    iati: 'document-link A02',
  },
  videos: {
    type: type.listOf(type.address),
    means: 'Addresses of videos.',
    examples: ['', ''],
    api: 'videos',
  },
  donationOptions: {
    type: type.entriesOf('options such as 25:buys tools|100:pays a mason', {
      amount: { type: type.wholeAmount },
      description: { type: type.text, optional: true },
    }),
    unit: 'DEFAULT_CURRENCY',
    means: 'What certain amounts do, as amount:description.',
    examples: ['25:buys tools|100:pays a mason', ''],
    api: 'donationOptions',
  },
  notice: { type: type.text, means: 'A note beside the project.', examples: ['', ''], api: 'notice' },
  contactName: contact('Contact person', 'contactName'),
  contactTitle: contact("Contact person's function", 'contactTitle'),
  contactAddress: contact('Contact address, first line', 'contactAddress'),
  contactAddress2: contact('Contact address, second line', 'contactAddress2'),
  contactCity: contact('City of the contact', 'contactCity'),
  contactState: contact('State or province of the contact', 'contactState'),
  contactPostal: contact('Postal code of the contact', 'contactPostal'),
  contactCountry: contact('Country of the contact', 'contactCountry'),
  contactUrl: {
    type: type.address,
    means: 'Web site of the contact.',
    examples: ['', ''],
    api: 'contactUrl',
  },
} as const satisfies KindFields

function contact<const Api extends string>(what: string, api: Api) {
  return { type: type.text, means: `${what}; never in feeds.`, examples: ['', ''], api } as const
}

type ProjectRow = RowOf<typeof projectKindFields>

export const projects = defineKind({
  name: 'projects',
  means: 'Projects. Each becomes one record of the API and one IATI activity.',
  fields: projectKindFields,
  key: ['id'],
  repeated: 'last',
  check,
  save,
})

function check(row: ProjectRow, { today }: ImportSaving): FieldProblem[] {
  const { countries = [], payouts = [], funding, numberOfDonations } = row
  const problems = payouts.flatMap(({ date }): FieldProblem[] => {
    const expected = expectedDay(date, 'plan', today)
    return expected === undefined ? [] : [{ field: 'payouts', expected, got: date }]
  })
  if (funding === undefined && numberOfDonations !== undefined) {
    problems.push({ field: 'funding', expected: 'the total of these donations, or neither of the two' })
  }
  const shares = countries.flatMap(({ share }) => share ?? [])
  const sum = shares.reduce((total, share) => total + toMinorUnits(share, 4), 0n)
  if (shares.length > 0 && (shares.length < countries.length || sum !== 1_000_000n)) {
    const got = countries.map(({ country, share }) => `${country}:${share ?? ''}`).join('|')
    problems.push({ field: 'countries', expected: 'shares for all countries that add up to 100, or no shares', got })
  }
  if (new Set(countries.map(({ country }) => country)).size < countries.length) {
    problems.push({ field: 'countries', expected: 'each country once' })
  }
  if (new Set(payouts.map(({ reference }) => reference)).size < payouts.length) {
    problems.push({ field: 'payouts', expected: 'payouts of different references' })
  }
  return problems
}

async function save(db: Db, rows: readonly ProjectRow[], saving: ImportSaving): Promise<RecordOutcome[]> {
  const themeIds = await findThemeIds(
    db,
    rows.flatMap(({ themes = [] }) => themes),
    saving.source,
  )
  const organisations = await organisationSources(
    db,
    rows.flatMap(({ organization }) => organization ?? []),
  )
  const outcomes = new Map<number, RecordOutcome>()
  const good: HashedRecord[] = []
  for (const row of rows) {
    const problem = unknownReference(row, themeIds, organisations)
    if (problem) outcomes.set(row.id, problem)
    else good.push(toHashed(row, themeIds, saving))
  }
  const saved = await saveRecords(db, good, saving)
  await deriveRemaining(
    db,
    [...saved.states].flatMap(([id, state]) => (state === 'unchanged' ? [] : id)),
  )
  for (const [id, outcome] of toOutcomes(saved)) outcomes.set(id, outcome)
  return rows.map(({ id }) => outcomes.get(id) ?? 'unchanged')
}

/** The outcomes of project records by id. */
export function toOutcomes({ states, kept, refused, differing }: SavedRecords): Map<number, RecordOutcome> {
  const outcomes = new Map<number, RecordOutcome>(states)
  for (const id of differing) outcomes.set(id, { change: 'unchanged', differs: true })
  for (const { id, problem } of kept) outcomes.set(id, { change: states.get(id) ?? 'changed', kept: problem })
  for (const { id, problem } of refused) outcomes.set(id, problem)
  return outcomes
}

function unknownReference(
  { themes = [], organization }: ProjectRow,
  themeIds: ReadonlyMap<string, string>,
  organisations: ReadonlyMap<number, unknown>,
): FieldProblem | undefined {
  const theme = themes.find((one) => !themeIds.has(one))
  if (theme !== undefined) return unknownTheme(theme)
  if (organization === undefined || organisations.has(organization)) return undefined
  return {
    field: 'organization',
    expected: 'the id of an organisation that was imported before',
    got: String(organization),
  }
}

function toHashed(row: ProjectRow, themeIds: ReadonlyMap<string, string>, saving: ImportSaving): HashedRecord {
  const statesTotal = row.funding !== undefined
  return {
    ...toHashedRecord(toProjectRecord(row, themeIds), saving, undefined),
    keeps: statesTotal ? 'parts' : 'parts and totals',
  }
}

function toProjectRecord(row: ProjectRow, themeIds: ReadonlyMap<string, string>): ProjectRecord {
  const { organization, themes = [], countries = [], region, videos = [], donationOptions = [], active } = row
  const { paused, locationPrecision, locationName, deadline, sdgs, payouts, glideNumber, iatiIdentifier, ...fields } =
    row
  const ids = [...new Set(themes.map((theme) => themeIds.get(theme) ?? theme))]
  const named: Country[] = countries.map(({ country: code }) => ({ code, name: countryNameOf(code) }))
  const publication = present({
    ...{ paused, locationPrecision, locationName, deadline, glideNumber, iatiIdentifier },
    sdgs: sdgs && [...new Set(sdgs)].sort(),
    payouts: payouts?.map(({ reference, date, amount }) => ({ reference, plannedOn: date, amount })),
    countryShares: countries.flatMap(({ country: code, share }) => (share ? [{ code, share }] : [])),
  }) as ProjectPublication
  const {
    externalId: _externalId,
    organization: _organization,
    region: _region,
    themes: _themes,
    countries: _countries,
    ...wireFields
  } = fields
  return {
    ...(present(wireFields) as Omit<typeof wireFields, 'videos' | 'donationOptions'>),
    active: active ?? row.status === 'active',
    type: row.type ?? 'project',
    funding: row.funding ?? zero,
    numberOfDonations: row.numberOfDonations ?? 0,
    ...(named[0] && { countryCode: named[0].code }),
    ...(region !== undefined && { regionName: region }),
    ...(organization !== undefined && { organisationId: organization }),
    publication,
    countries: named,
    // The name of a stored theme stays: a name equal to the id changes nothing.
    themes: ids.map((id) => ({ id, name: id })),
    videos,
    donationOptions,
  }
}

const zero = parseDecimal('0') as ProjectRecord['funding']

/** The members that are not undefined. */
function present(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
