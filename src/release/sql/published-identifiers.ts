import { listsOfEach } from '../../kernel/rows.js'
import type { Db } from '../../platform/database/connection.js'

/** Published identifiers, not withdrawn, that no publishable activity has; the first `limit`, and how many in all. */
export async function vanishedIdentifiers(db: Db, limit: number): Promise<{ count: number; sample: string[] }> {
  const { rows } = await db.query<{ identifier: string; count: number }>(
    `select i.identifier, (count(*) over ())::integer as count from published_identifier i
      where withdrawn_at is null
        and not exists (select from rendering r where r.identifier = i.identifier and r.text is not null)
      order by i.project_id limit $1`,
    [limit],
  )
  return { count: rows[0]?.count ?? 0, sample: rows.map((row) => row.identifier) }
}

/**
 * Records the identifiers of all publishable activities as published. Called before a release goes live, so that a crash in
 * between can record too many, never too few.
 */
export async function recordPublishableIdentifiers(db: Db, releaseId: string, at: Date): Promise<void> {
  await db.query(
    `insert into published_identifier (identifier, project_id, segment, first_release_id, first_published_at)
      select identifier, project_id, segment, $1, $2 from rendering r
        where text is not null and not exists
          (select from published_identifier i where i.project_id = r.project_id)
        order by project_id
      on conflict do nothing`,
    [releaseId, at],
  )
  await db.query(
    `update published_identifier i set withdrawn_at = null
      where withdrawn_at is not null
        and exists (select from rendering r where r.identifier = i.identifier and r.text is not null)`,
  )
}

/** How many identifiers are published and not withdrawn. */
export async function countPublishedIdentifiers(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::integer as count from published_identifier where withdrawn_at is null',
  )
  return rows[0]?.count ?? 0
}

/** Whether an activity with this identifier was ever published. */
export async function isPublishedIdentifier(db: Db, identifier: string): Promise<boolean> {
  const { rowCount } = await db.query('select from published_identifier where identifier = $1', [identifier])
  return rowCount === 1
}

/** An identifier in a release. */
export type CarriedIdentifier = { readonly identifier: string; readonly projectId: number; readonly segment: number }

/** Loads the identifiers of a release into a temporary table of the caller's transaction. */
export async function loadCarried(db: Db, batches: AsyncIterable<readonly CarriedIdentifier[]>): Promise<void> {
  await db.query(
    'create temporary table carried (identifier text primary key, project_id bigint, segment integer) on commit drop',
  )
  for await (const batch of batches) {
    await db.query(
      `insert into carried select * from unnest($1::text[], $2::bigint[], $3::integer[]) on conflict do nothing`,
      listsOfEach(batch, 'identifier', 'projectId', 'segment'),
    )
  }
}

const notCarried = 'withdrawn_at is null and not exists (select from carried c where c.identifier = i.identifier)'

/** Published identifiers that the loaded release lacks: how many, and the first few. */
export async function missingFromCarried(db: Db): Promise<{ count: number; sample: string[] }> {
  const { rows } = await db.query<{ identifier: string; count: number }>(
    `select i.identifier, (count(*) over ())::integer as count from published_identifier i
      where ${notCarried} order by i.project_id limit 10`,
  )
  return { count: rows[0]?.count ?? 0, sample: rows.map((row) => row.identifier) }
}

/** Records the identifiers of the loaded release as published, and withdraws those that it lacks. */
export async function recordCarriedIdentifiers(db: Db, releaseId: string, at: Date): Promise<void> {
  await db.query(`update published_identifier i set withdrawn_at = $1 where ${notCarried}`, [at])
  await db.query(
    `insert into published_identifier (identifier, project_id, segment, first_release_id, first_published_at)
      select identifier, project_id, segment, $1, $2 from carried order by project_id on conflict do nothing`,
    [releaseId, at],
  )
}

const beginsWith = 'exists (select from unnest($1::text[]) p where starts_with(identifier, p))'

/** How many published identifiers have one of these beginnings. */
export async function countIdentifiersOf(db: Db, prefixes: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::integer as count from published_identifier where ${beginsWith}`,
    [prefixes],
  )
  return rows[0]?.count ?? 0
}

/**
 * Forgets every identifier with one of these beginnings, whose publisher was never a real one; its project is mapped again.
 * Returns how many.
 */
export async function forgetIdentifiers(db: Db, prefixes: readonly string[]): Promise<number> {
  const { rowCount } = await db.query(
    `with gone as (delete from published_identifier where ${beginsWith} returning project_id),
      mapped_again as (update project_version set dirty = true where project_id in (select project_id from gone))
      select from gone`,
    [prefixes],
  )
  return rowCount
}
