import type { IsoDate } from '../../kernel/dates.js'
import { firstDemoId } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import { type CurrencyCode, minorUnitExponent } from '../../kernel/money.js'
import { themeDefaults } from '../../kernel/theme-sectors.js'
import type { Db } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'
import { createMonths, insertDisbursements, insertDonationMonths, insertMonths, insertPayoutPlans } from './money.js'
import { insertOrganisationParts, insertOrganisations, insertReferences } from './organisations.js'
import { createPlan, insertPlan, insertProjectParts, insertProjects } from './projects.js'
import { createReports, insertPlannedReports, insertReports } from './reports.js'
import { seedCountries } from './words.js'

/** The day and place of seeded data. */
export type SeedSettings = {
  /** The UTC day on which money and reports end; only deadlines lie after it. */
  readonly today: IsoDate
  readonly currency: CurrencyCode
  /** The platform's public address, without a slash at its end. */
  readonly baseUrl: string
}

/** What to seed. The same options make the same rows, and a smaller number of projects makes the first of them. */
export type SeedOptions = SeedSettings & {
  readonly projects: number
  /** Links of demo data lead to what this service serves below /demo. */
  readonly source: 'demo' | 'local'
  /** The demo's own: nothing odd, and one range of ids. */
  readonly isDemo?: boolean
  /** The first id of projects and organisations. */
  readonly firstId: number
  /** How many of the known countries take part; all 24 by default. */
  readonly countries?: number
  /** How many months of money each project has, at least 1; 12 to 60 by default. */
  readonly months?: number
  readonly onProgress?: (done: number, total: number) => void
  /** Between two chunks, an aborted seed stops with `aborted`; the chunks before it stay. */
  readonly signal?: AbortSignal
}

// Projects in a transaction: large enough for set-based speed, small enough to show progress and bound temporary tables.
const chunkSize = 20_000
const mostReports = 8
/**
 * Fills the store with plausible, invented data, chosen by hashes of ids alone. Totals agree: a project's funding is the sum
 * of its gifts, openings and refunds, its reports are counted. Throws `input-unusable` when ids are taken.
 */
export async function seed(store: Store, options: SeedOptions): Promise<void> {
  const { projects, firstId } = options
  if (projects < 1 || firstId < 1) {
    throw new ServiceError('input-unusable', `expected at least 1 project and id, got ${projects} and ${firstId}`)
  }
  const organisations = Math.ceil(projects / 3)
  await refuseTakenIds(store.db, options, organisations)
  for (let from = 0; from < organisations; from += chunkSize) {
    refuseAborted(options)
    const to = Math.min(from + chunkSize, organisations) - 1
    await store.transaction(async (db) => {
      await useSettings(db, options, organisations)
      await seedOrganisations(db, options, from, to)
    })
  }
  for (let from = 0; from < projects; from += chunkSize) {
    refuseAborted(options)
    const to = Math.min(from + chunkSize, projects)
    await store.transaction(async (db) => {
      await useSettings(db, options, organisations)
      await seedProjects(db, from, to - 1)
    })
    options.onProgress?.(to, projects)
  }
}

/** The first id after all projects, organisations and reports but those of the demo: where more can be seeded. */
export async function nextFreeId(db: Db): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `select greatest(
       (select max(id) from project where source <> 'demo' or id < $2),
       (select max(id) from organisation where source <> 'demo' or id < $2),
       (select max(id) / $1 from progress_report where source <> 'demo' or id < $2), 0) + 1 as id`,
    [mostReports, firstDemoId],
  )
  return rows[0]?.id ?? 1
}

function refuseAborted(options: SeedOptions): void {
  if (options.signal?.aborted) throw new ServiceError('aborted', 'seeding was interrupted')
}

function firstReportId({ isDemo, firstId }: SeedOptions): number {
  // Ranges of projects that do not overlap must not share ids of reports; demo data has one range only.
  return isDemo ? firstId : firstId * mostReports
}

async function refuseTakenIds(db: Db, options: SeedOptions, organisations: number): Promise<void> {
  const { firstId, projects } = options
  const reports = firstReportId(options)
  const { rows } = await db.query<{ what: string; id: number }>(
    `(select 'project' as what, id from project where id between $1 and $2 order by id limit 1)
     union all (select 'organisation', id from organisation where id between $1 and $3 order by id limit 1)
     union all (select 'progress report', id from progress_report where id between $4 and $5 order by id limit 1)`,
    [firstId, firstId + projects - 1, firstId + organisations - 1, reports, reports + projects * mostReports - 1],
  )
  const [taken] = rows
  if (!taken) return
  throw new ServiceError('input-unusable', `expected free ids from ${firstId} on, but ${taken.what} ${taken.id} exists`)
}

/**
 * Makes the settings that the seeding statements read; they last as long as the transaction. Odd data that a careless writer
 * breaks on (missing and marked-up texts, missing goals and dates) is for tests and benches, not for the demo.
 */
export async function useSettings(db: Db, options: SeedOptions, organisations: number): Promise<void> {
  await db.query(`create temporary table seed_setting (first_id bigint, first_report_id bigint, organisations bigint,
    today date, currency text, places integer, unit numeric, source text, base_url text, countries jsonb, same_months integer, odd boolean, picture text) on commit drop`)
  const isServed = options.source === 'demo'
  const places = Math.min(minorUnitExponent(options.currency), 3)
  const settings = {
    first_id: options.firstId,
    first_report_id: firstReportId(options),
    organisations,
    today: options.today,
    currency: options.currency,
    places,
    unit: (10 ** -places).toFixed(16),
    source: options.source,
    base_url: isServed ? `${options.baseUrl}/demo` : options.baseUrl,
    countries: seedCountries.slice(0, options.countries),
    same_months: options.months,
    odd: options.isDemo !== true,
    picture: isServed ? 'png' : 'jpg',
  }
  await db.query('insert into seed_setting select * from json_populate_record(null::seed_setting, $1)', [
    JSON.stringify(settings),
  ])
}

/** Seeds organisations `from` to `to`, counted from 0, and what all projects refer to. */
export async function seedOrganisations(db: Db, options: SeedOptions, from: number, to: number): Promise<void> {
  const [regions, countries, themes] = insertReferences
  const countryJson = JSON.stringify(seedCountries.slice(0, options.countries))
  await db.query(regions, [countryJson])
  await db.query(countries, [countryJson])
  await db.query(themes, [JSON.stringify(Object.entries(themeDefaults).map(([id, theme]) => ({ id, ...theme })))])
  for (const text of [insertOrganisations, ...insertOrganisationParts]) await db.query(text, [from, to])
}

/** Seeds projects `from` to `to`, counted from 0, with everything that belongs to them. */
export async function seedProjects(db: Db, from: number, to: number): Promise<void> {
  for (const text of [createPlan, createMonths, createReports]) await db.query(text)
  await db.query(insertPlan, [from, to])
  for (const text of insertMonths) await db.query(text)
  await db.query(insertPlannedReports)
  await db.query('analyze seed_plan, seed_month, seed_report')
  await db.query(insertProjects)
  for (const text of insertProjectParts) await db.query(text)
  await db.query(insertDonationMonths)
  for (const text of [...insertDisbursements, ...insertPayoutPlans, ...insertReports]) await db.query(text)
}
