import type { Db } from './connection.js'

/** A release as the database knows it; the directory is the truth, this row follows it. */
export type ReleaseRow = {
  readonly id: string
  readonly runId: number
  readonly generatedAt: Date
  readonly state: 'live' | 'superseded' | 'held'
}

/** Records the release as live and its predecessor as superseded; recording it again changes nothing. */
export async function recordLiveRelease(
  db: Db,
  release: { readonly id: string; readonly runId: number; readonly generatedAt: Date; readonly manifest: unknown },
): Promise<void> {
  await db.query(`update release set state = 'superseded' where state = 'live' and id <> $1`, [release.id])
  await db.query(
    `insert into release (id, run_id, generated_at, state, manifest) values ($1, $2, $3, 'live', $4)
      on conflict (id) do update set state = 'live'`,
    [release.id, release.runId, release.generatedAt, JSON.stringify(release.manifest)],
  )
}

/** Records a release that waits for the operator. */
export async function recordHeldRelease(
  db: Db,
  release: { readonly id: string; readonly runId: number; readonly generatedAt: Date; readonly manifest: unknown },
): Promise<void> {
  await db.query(
    `insert into release (id, run_id, generated_at, state, manifest) values ($1, $2, $3, 'held', $4)
      on conflict (id) do nothing`,
    [release.id, release.runId, release.generatedAt, JSON.stringify(release.manifest)],
  )
}

/** The release that the database takes for live. */
export async function findLiveRelease(db: Db): Promise<ReleaseRow | undefined> {
  const { rows } = await db.query<{ id: string; run_id: number; generated_at: Date; state: 'live' }>(
    `select id, run_id, generated_at, state from release where state = 'live'`,
  )
  const row = rows[0]
  return row && { id: row.id, runId: row.run_id, generatedAt: row.generated_at, state: row.state }
}
