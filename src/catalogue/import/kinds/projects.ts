import { expectedDay } from '../../../kernel/dates.js'
import type { FieldProblem } from '../../../kernel/errors.js'
import { parseDecimal, toMinorUnits } from '../../../kernel/money.js'
import { columnFields } from '../../../kernel/nouns/field.js'
import { type ProjectFields, projectFields } from '../../../kernel/nouns/project.js'
import type { Country } from '../../../kernel/project.js'
import type { HashedRecord, ProjectPublication, ProjectRecord } from '../../../kernel/record.js'
import { givenOfEach } from '../../../kernel/rows.js'
import type { Db } from '../../../platform/database/connection.js'
import { organisationSources } from '../../sql/organisations.js'
import { deriveRemaining } from '../../sql/project-sources.js'
import { type SavedRecords, saveRecords } from '../../sql/save-records.js'
import { findThemeIds } from '../../sql/theme-lookup.js'
import { countryNameOf } from '../country-names.js'
import type { RowOf } from '../fields.js'
import { toHashedRecord } from '../hashed-record.js'
import { defineKind, type ImportSaving, type RecordOutcome } from '../kind.js'
import { fieldsInFiles } from '../noun-fields.js'
import { unknownTheme } from '../unknown-theme.js'

const projectKindFields = fieldsInFiles(projectFields, 'project')

export type ProjectRow = RowOf<typeof projectKindFields>

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
  const organisations = await organisationSources(db, givenOfEach(rows, 'organization'))
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
    ...toHashedRecord(projectRecordOf(row, themeIds), saving, undefined),
    keeps: statesTotal ? 'parts' : 'parts and totals',
  }
}

const publicationNames = new Set<string>(columnFields(projectFields, ['iati']).map(({ field }) => field))
const recordNames = new Set<string>([
  ...columnFields(projectFields, ['record']).flatMap(({ field, name }) => (name === undefined ? [field] : [])),
  'videos',
  'donationOptions',
])

// Hashes of stored records depend on the order of the members.
/** The record that a row is. */
export function projectRecordOf(row: ProjectRow, themeIds: ReadonlyMap<string, string>): ProjectRecord {
  const { organization, themes = [], countries = [], region, sdgs, payouts, active } = row
  const { videos = [], donationOptions = [] } = row
  const ids = [...new Set(themes.map((theme) => themeIds.get(theme) ?? theme))]
  const named: Country[] = countries.map(({ country: code }) => ({ code, name: countryNameOf(code) }))
  const publication: ProjectPublication = {
    ...picked(row, publicationNames),
    ...(sdgs && { sdgs: [...new Set(sdgs)].sort() }),
    ...(payouts && { payouts: payouts.map(({ reference, date, amount }) => ({ reference, plannedOn: date, amount })) }),
    countryShares: countries.flatMap(({ country: code, share }) => (share ? [{ code, share }] : [])),
  }
  return {
    ...(picked(row, recordNames) as ProjectFields<'record'>),
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

/** The members of these names that are not undefined, in the order of the columns. */
function picked(row: object, names: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(row).filter(([name, value]) => names.has(name) && value !== undefined))
}
