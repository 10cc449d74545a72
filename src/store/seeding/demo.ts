import type { Db } from '../database/connection.js'
import { forgetSandboxCharges } from '../donations/sandbox-charges.js'
import type { Store } from '../store.js'
import { insertDonations } from './money.js'
import { type SeedOptions, type SeedSettings, seedOrganisations, seedProjects, useSettings } from './seed.js'

/** The first id of demo data. */
export const firstDemoId = 9_000_001

// Any constant; taken by every process that may seed demo data.
const demoLock = 7_241_032_606

/**
 * Seeds 120 demo projects in 12 countries, in one transaction with the fact that they were seeded, so that a killed first
 * start can start again. Does nothing (0 projects) in a store that was seeded before or has a project.
 */
export async function seedDemo(store: Store, settings: SeedSettings): Promise<{ readonly projects: number }> {
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

/** Whether demo data was never seeded and the store has no project: only then may a first start seed it. */
export async function neverSeeded(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ never: boolean }>(
    `select not exists (select from store_fact where name = 'demo-seeded') and not exists (select from project) as never`,
  )
  return rows[0]?.never ?? false
}

/**
 * Removes all demo data with its renderings, feeds and published identifiers. The fact that it was seeded stays, so it does
 * not come back. Countries and themes stay: they are the platform's; so does a demo organisation that a row of another source
 * refers to.
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
    // Foreign keys remove everything else of a project.
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
