import type { Db } from '../../../src/platform/database/connection.js'
import type { Store } from '../../../src/platform/database/store.js'

export type ProjectSeed = {
  readonly id: number
  readonly active?: boolean
  readonly title?: string
  readonly organisationId?: number
}

/** Stores an organisation that counts its projects here. */
export async function insertOrganisation(db: Db, id: number): Promise<void> {
  await db.query(`insert into organisation (id, name, source) values ($1, $2, 'local')`, [id, `Organisation ${id}`])
}

/** Stores plain projects; inactive ones are retired. */
export async function insertProjects(db: Db, projects: readonly ProjectSeed[]): Promise<void> {
  await db.query(
    `insert into project (id, active, status, title, goal, funding, organisation_id, first_seen_on, source)
      select p.id, p.active, case when p.active then 'active' else 'retired' end, p.title, 8000, 1250.5, p.organisation,
        '2026-01-01', 'local'
      from unnest($1::bigint[], $2::boolean[], $3::text[], $4::bigint[]) p (id, active, title, organisation)`,
    [
      projects.map(({ id }) => id),
      projects.map(({ active }) => active ?? true),
      projects.map(({ id, title }) => title ?? `Project ${id}`),
      projects.map(({ organisationId }) => organisationId ?? null),
    ],
  )
}

/** Loses projects as a backup that is put back loses them: past the trigger that refuses to delete published ones. */
export async function loseProjects(store: Store, ids: readonly number[]): Promise<void> {
  await store.transaction(async (db) => {
    await db.query('alter table project disable trigger refuse_deleting_published')
    await db.query('delete from project where id = any ($1::bigint[])', [ids])
    await db.query('alter table project enable trigger refuse_deleting_published')
  })
}
