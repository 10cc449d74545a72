import { firstDemoId, demoProjects as projects } from '../../kernel/demo-publisher.js'
import { forgetSandboxCharges } from '../../money/sql/sandbox-charges.js'
import type { Db } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'
import { insertDonations } from './money.js'
import { type SeedOptions, type SeedSettings, seedOrganisations, seedProjects, useSettings } from './seed.js'

// Any constant; taken by every process that may seed demo data.
const demoLock = 7_241_032_606

/**
 * Seeds 120 demo projects in 12 countries, in one transaction with the fact that they were seeded, so that a killed first
 * start can start again. Does nothing (0 projects) in a store that was seeded before or has a project.
 */
export async function seedDemo(store: Store, settings: SeedSettings): Promise<{ readonly projects: number }> {
  const organisations = Math.ceil(projects / 3)
  const options: SeedOptions = {
    ...settings,
    projects,
    source: 'demo',
    isDemo: true,
    firstId: firstDemoId,
    countries: 12,
  }
  return await store.transaction(async (db) => {
    // Two processes may start for the first time together.
    await db.query('select pg_advisory_xact_lock($1)', [demoLock])
    if (!(await neverSeeded(db))) return { projects: 0 }
    await useSettings(db, options, organisations)
    await db.query(setGuards('disable'))
    await seedOrganisations(db, options, 0, organisations - 1)
    await seedProjects(db, 0, projects - 1)
    await db.query(insertDonations)
    await db.query(setGuards('enable'))
    await db.query(`insert into store_fact (name, value, recorded_at) values ('demo-seeded', $1, $2)`, [
      `${projects} projects`,
      `${options.today}T00:00:00Z`,
    ])
    return { projects }
  })
}

/** Triggers that look at what other roles write: to find of each row that it is our own takes a third of the seeding. */
function setGuards(what: 'enable' | 'disable'): string {
  return `do $$ declare one record; begin
    for one in select tgrelid::regclass as relation, tgname from pg_trigger
      where tgname in ('refuse_nonsense', 'say_what_is_refused') order by tgrelid, tgname
    loop execute format('alter table %s ${what} trigger %I', one.relation, one.tgname); end loop;
  end $$`
}

/** The columns of demo data that hold addresses of this service. */
const addresses = {
  project: ['project_link', 'progress_report_link', 'additional_documentation', 'image_link', 'contact_url'],
  organisation: ['url', 'logo_url'],
  photo: ['small_url', 'thumbnail_url', 'medium_url', 'large_url', 'extra_large_url', 'original_url'],
  video: ['url'],
  progress_report: ['url'],
  report_image: ['url'],
} as const

/** Makes the links of demo data lead to this public address; does nothing where they already do. */
export async function moveDemo(store: Store, baseUrl: string): Promise<void> {
  await store.transaction(async (db) => {
    const { rows } = await db.query<{ base: string }>(
      `select split_part(project_link, '/demo/projects/', 1) as base from project
        where id >= $1 and source = 'demo' and project_link like '%/demo/projects/%' order by id limit 1`,
      [firstDemoId],
    )
    const before = rows[0]?.base
    if (before === undefined || before === baseUrl) return
    for (const [table, columns] of Object.entries(addresses)) {
      const moved = (column: string) =>
        `case when starts_with(${column}, $1) then $2 || substr(${column}, length($1) + 1) else ${column} end`
      await db.query(
        `update ${table} set ${columns.map((column) => `${column} = ${moved(column)}`).join(', ')}
          where ${columns.map((column) => `starts_with(${column}, $1)`).join(' or ')}`,
        [`${before}/demo/`, `${baseUrl}/demo/`],
      )
    }
  })
}

/** Whether demo data was never seeded and the store has no project: only then may a first start seed it. */
export async function neverSeeded(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ never: boolean }>(
    `select not exists (select from store_fact where name = 'demo-seeded') and not exists (select from project) as never`,
  )
  return rows[0]?.never ?? false
}

/** How many projects are demo data. */
export async function countDemoProjects(db: Db): Promise<number> {
  const { rows } = await db.query<{ projects: number }>(
    `select count(*)::integer as projects from project where source = 'demo'`,
  )
  return rows[0]?.projects ?? 0
}

/** Whether the store has any project that is not invented. */
export async function hasOwnProjects(db: Db): Promise<boolean> {
  return (await db.query(`select from project where source <> 'demo' limit 1`)).rowCount === 1
}

/**
 * Removes all demo data with its renderings, feeds and published identifiers. The fact that it was seeded stays, so it does
 * not come back. Countries and themes stay, since they are the platform's. A demo organisation stays while a row of another source
 * refers to it.
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
