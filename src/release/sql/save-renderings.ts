import type { IsoDate } from '../../kernel/dates.js'
import type { Notice } from '../../kernel/notice.js'
import type { Db } from '../../platform/database/connection.js'
import { textArray } from '../../platform/database/text-array.js'
import { type ActivityRowsRecord, saveActivityRows } from './activity-rows.js'

export type Rendering = {
  readonly projectId: number
  /** The project's version that was mapped; its dirty mark is cleared only while this is still its version. */
  readonly version: number
  readonly identifier: string
  readonly notices: readonly Notice[]
  readonly noticeCounts: Readonly<Record<string, number>>
  readonly errors: number
  readonly warnings: number
  readonly infos: number
  readonly validUntil: IsoDate | undefined
  /** The new valid content; absent when the activity is held or its content is the stored one. */
  readonly content?: {
    /** UTF-8. */
    readonly text: Buffer
    readonly hash: string
    readonly money: Readonly<Record<string, { readonly in: string; readonly out: string }>>
    readonly lastUpdatedAt: Date
    /** What the tables and the index say of it. */
    readonly rows: Omit<ActivityRowsRecord, 'projectId' | 'contentHash'>
  }
  /** The project's Atom feed: `none` deletes it; when absent, the stored one stays. */
  readonly feed?: 'none' | { text: Buffer; hash: string; entries: number; updatedAt: Date }
}

const upsertRenderings = `
  insert into rendering (project_id, identifier, verdict, text, content_hash, bytes, last_updated_at, errors, warnings,
      infos, notice_counts, notices, input_key, valid_until, money, run_id, held_since)
  select project_id, identifier, verdict, text, content_hash, coalesce(bytes, 0), last_updated_at, errors, warnings,
      infos, notice_counts, notices, $14, valid_until, coalesce(money, '{}'), $15, case when verdict = 'held' then $17::timestamptz end
    from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::timestamptz[],
      $8::integer[], $9::integer[], $10::integer[], $11::jsonb[], $12::jsonb[], $13::date[], $16::jsonb[])
      as t (project_id, identifier, verdict, text, content_hash, bytes, last_updated_at, errors, warnings, infos,
        notice_counts, notices, valid_until, money)
  on conflict (project_id) do update set
    -- That of the text: a project may get one of its own before it is published.
    identifier = case when excluded.text is null and rendering.text is not null then rendering.identifier
      else excluded.identifier end,
    verdict = excluded.verdict,
    text = coalesce(excluded.text, rendering.text),
    content_hash = coalesce(excluded.content_hash, rendering.content_hash),
    bytes = case when excluded.text is null then rendering.bytes else excluded.bytes end,
    last_updated_at = coalesce(excluded.last_updated_at, rendering.last_updated_at),
    errors = excluded.errors, warnings = excluded.warnings, infos = excluded.infos,
    notice_counts = excluded.notice_counts, notices = excluded.notices,
    input_key = excluded.input_key, valid_until = excluded.valid_until,
    money = case when excluded.text is null then rendering.money else excluded.money end,
    run_id = excluded.run_id,
    held_since = case when excluded.verdict = rendering.verdict then rendering.held_since else excluded.held_since end`

/** Stores renderings and clears the marks of their versions, in a transaction; a second time changes nothing. */
export async function saveRenderings(
  db: Db,
  renderings: readonly Rendering[],
  inputKey: string,
  run: { readonly id: number; readonly startedAt: Date },
): Promise<void> {
  // The commit does not wait for the disk: a crash of the server loses texts and cleared marks together, and a release goes
  // live only after a later commit that did wait.
  await db.query('set local synchronous_commit = off')
  // PostgreSQL plans the check of a foreign key once a session. Were `rendering` known to be empty then, as after an ANALYZE before
  // the first publication, it would read the whole table for each row that refers to it.
  await db.query('set local enable_seqscan = off')
  const column = <T>(pick: (rendering: Rendering) => T) => renderings.map(pick)
  await db.query(upsertRenderings, [
    column((r) => r.projectId),
    column((r) => r.identifier),
    column((r) => (r.errors > 0 ? 'held' : 'valid')),
    textArray(column((r) => r.content?.text ?? null)),
    column((r) => r.content?.hash ?? null),
    column((r) => r.content?.text.length ?? null),
    column((r) => r.content?.lastUpdatedAt ?? null),
    column((r) => r.errors),
    column((r) => r.warnings),
    column((r) => r.infos),
    column((r) => JSON.stringify(r.noticeCounts)),
    column((r) => JSON.stringify(r.notices)),
    column((r) => r.validUntil ?? null),
    inputKey,
    run.id,
    column((r) => (r.content ? JSON.stringify(r.content.money) : null)),
    run.startedAt,
  ])
  await saveActivityRows(
    db,
    renderings.flatMap(({ projectId, content }) =>
      content ? [{ projectId, contentHash: content.hash, ...content.rows }] : [],
    ),
  )
  await saveFeeds(db, renderings, run.startedAt)
  await db.query(
    `update project_version v set dirty = false
      from unnest($1::bigint[], $2::bigint[]) as t (project_id, version)
      where v.project_id = t.project_id and v.version = t.version and v.dirty`,
    [column((r) => r.projectId), column((r) => r.version)],
  )
}

async function saveFeeds(db: Db, renderings: readonly Rendering[], at: Date): Promise<void> {
  const gone = renderings.filter((r) => r.feed === 'none').map((r) => r.projectId)
  if (gone.length > 0) await db.query('delete from report_feed where project_id = any ($1::bigint[])', [gone])
  const feeds = renderings.flatMap(({ projectId, feed }) => (typeof feed === 'object' ? [{ projectId, ...feed }] : []))
  if (feeds.length === 0) return
  await db.query(
    `insert into report_feed (project_id, text, content_hash, entries, bytes, updated_at, changed_at)
      select project_id, text, content_hash, entries, bytes, updated_at, $7
        from unnest($1::bigint[], $2::text[], $3::text[], $4::integer[], $5::integer[], $6::timestamptz[])
          as t (project_id, text, content_hash, entries, bytes, updated_at)
      on conflict (project_id) do update set text = excluded.text, content_hash = excluded.content_hash,
        entries = excluded.entries, bytes = excluded.bytes, updated_at = excluded.updated_at,
        changed_at = case when report_feed.content_hash = excluded.content_hash then report_feed.changed_at
          else excluded.changed_at end`,
    [
      feeds.map((feed) => feed.projectId),
      textArray(feeds.map((feed) => feed.text)),
      feeds.map((feed) => feed.hash),
      feeds.map((feed) => feed.entries),
      feeds.map((feed) => feed.text.length),
      feeds.map((feed) => feed.updatedAt),
      at,
    ],
  )
}
