import type { IsoDate } from '../../domain/dates.js'
import { ServiceError } from '../../domain/errors.js'
import { type CurrencyCode, minorUnitExponent } from '../../domain/money.js'
import { themeDefaults } from '../../domain/theme-sectors.js'
import type { Db } from '../database/connection.js'
import { forgetSandboxCharges } from '../donations/sandbox-charges.js'
import type { Store } from '../store.js'
import {
  createMonths,
  insertDisbursements,
  insertDonationMonths,
  insertDonations,
  insertMonths,
  insertPayoutPlans,
} from './money.js'
import { insertOrganisationParts, insertOrganisations, insertReferences } from './organisations.js'
import { createPlan, insertPlan, insertProjectParts, insertProjects } from './projects.js'
import { createReports, insertPlannedReports, insertReports } from './reports.js'
import { seedCountries } from './words.js'

/** What to seed. The same options make the same rows, and a smaller number of projects makes the first of them. */
export type SeedOptions = {
  readonly projects: number
  readonly source: 'demo' | 'local'
  /** The UTC day on which money and reports end; only deadlines lie after it. */
  readonly today: IsoDate
  readonly currency: CurrencyCode
  /** The platform's public address, without a slash at its end. */
  readonly baseUrl: string
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

/** The first id of demo data (architecture.md 2.7). */
export const firstDemoId = 9_000_001

// Projects a transaction: large enough for set-based speed, small enough to show progress and bound temporary tables.
const chunkSize = 20_000
const mostReports = 8
// Any constant; taken by every process that may seed demo data.
const demoLock = 7_241_032_606

/**
 * Fills the store with plausible, invented data, decided by hashes of ids alone. Totals agree: a project's funding is
 * the sum of its gifts, openings and refunds, its reports are counted. Throws `input-unusable` when ids are taken.
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

/**
 * Demo data: 120 projects in 12 countries with ids from 9,000,001, all in one transaction with the fact that it was
 * seeded, so that a killed first start can simply start again. Does nothing (0 projects) in a store that was seeded
 * before or holds a project.
 */
export async function seedDemo(
  store: Store,
  settings: Pick<SeedOptions, 'today' | 'currency' | 'baseUrl'>,
): Promise<{ readonly projects: number }> {
  const projects = 120
  const organisations = Math.ceil(projects / 3)
  const options: SeedOptions = { ...settings, projects, source: 'demo', firstId: firstDemoId, countries: 12 }
  return await store.transaction(async (db) => {
    // Two processes may start for the first time together.
    await db.query('select pg_advisory_xact_lock($1)', [demoLock])
    if (!(await neverSeeded(db))) return { projects: 0 }
    await useSettings(db, options, organisations)
    await seedOrganisations(db, options, 0, organisations - 1)
    await seedProjects(db, 0, projects - 1)
    await db.query(insertDonations)
    await db.query(`insert into store_fact (name, value, recorded_at) values ('demo-seeded', $1, $2)`, [
      `${projects} projects`,
      `${options.today}T00:00:00Z`,
    ])
    return { projects }
  })
}

/** The first id after all projects, organisations and reports that are not demo data: where local data can be seeded. */
export async function nextFreeId(db: Db): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `select greatest(
       (select max(id) from project where source <> 'demo'),
       (select max(id) from organisation where source <> 'demo'),
       (select max(id) / $1 from progress_report where source <> 'demo'), 0) + 1 as id`,
    [mostReports],
  )
  return rows[0]?.id ?? 1
}

/** True when demo data was never seeded and there is no project: only then may a first start seed it. */
export async function neverSeeded(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ never: boolean }>(
    `select not exists (select from store_fact where name = 'demo-seeded') and not exists (select from project) as never`,
  )
  return rows[0]?.never ?? false
}

/**
 * Removes all demo data with its renderings, feeds and published identifiers. That it was seeded stays known, so it
 * does not come back. Countries and themes stay, they belong to the platform; so does a demo organisation that a row of
 * another source refers to.
 */
export async function resetDemo(store: Store): Promise<{ readonly projects: number; readonly organisations: number }> {
  return await store.transaction(async (db) => {
    const ofDemo = `in (select id from project where source = 'demo')`
    await forgetSandboxCharges(db, `select reference from donation where project_id ${ofDemo}`)
    await db.query(`delete from donation where project_id ${ofDemo}`)
    await db.query(`delete from disbursement where project_id ${ofDemo}`)
    await db.query(`delete from published_identifier where project_id ${ofDemo}`)
    await db.query(
      `delete from report_place where report_id in (select id from progress_report where project_id ${ofDemo})`,
    )
    // Everything else of a project goes with it.
    const projects = await db.query(`delete from project where source = 'demo'`)
    const organisations = await db.query(
      `delete from organisation o where source = 'demo'
         and not exists (select from project where organisation_id = o.id)
         and not exists (select from donation_month where funder_id = o.id)
         and not exists (select from donation where funder_id = o.id)
         and not exists (select from disbursement where receiver_id = o.id)`,
    )
    return { projects: projects.rowCount, organisations: organisations.rowCount }
  })
}

function refuseAborted(options: SeedOptions): void {
  if (options.signal?.aborted) throw new ServiceError('aborted', 'seeding was interrupted')
}

function firstReportId({ source, firstId }: SeedOptions): number {
  // Ranges of projects that do not overlap must not share reports either; demo data has one range only.
  return source === 'demo' ? firstId : firstId * mostReports
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

async function useSettings(db: Db, options: SeedOptions, organisations: number): Promise<void> {
  await db.query(`create temporary table seed_setting (first_id bigint, first_report_id bigint, organisations bigint,
    today date, currency text, places integer, unit numeric, source text, base_url text, countries jsonb, same_months integer) on commit drop`)
  const places = Math.min(minorUnitExponent(options.currency), 3)
  await db.query(
    `insert into seed_setting values ($1, $2, $3, $4, $5, $6::integer, 10 ^ (- $6::integer::numeric), $7, $8, $9, $10)`,
    [
      options.firstId,
      firstReportId(options),
      organisations,
      options.today,
      options.currency,
      places,
      options.source,
      options.baseUrl,
      JSON.stringify(seedCountries.slice(0, options.countries)),
      options.months ?? null,
    ],
  )
}

async function seedOrganisations(db: Db, options: SeedOptions, from: number, to: number): Promise<void> {
  const [regions, countries, themes] = insertReferences
  const countryJson = JSON.stringify(seedCountries.slice(0, options.countries))
  await db.query(regions, [countryJson])
  await db.query(countries, [countryJson])
  await db.query(themes, [JSON.stringify(Object.entries(themeDefaults).map(([id, theme]) => ({ id, ...theme })))])
  for (const text of [insertOrganisations, ...insertOrganisationParts]) await db.query(text, [from, to])
}

async function seedProjects(db: Db, from: number, to: number): Promise<void> {
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
