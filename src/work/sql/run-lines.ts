import type { Db } from '../../platform/database/connection.js'

/** Something that happened to a publication run, as its log has it. */
export type RunLine = {
  readonly at: Date
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

/** Keeps a line of a run. */
export async function recordRunLine(db: Db, runId: number, { at, level, message, details }: RunLine): Promise<void> {
  await db.query(
    `insert into run_line (run_id, at, level, message, details) select id, $2, $3, $4, $5 from run where id = $1`,
    [runId, at, level, message, JSON.stringify(details)],
  )
}

/** The newest `limit` lines of a run, oldest first. */
export async function listRunLines(db: Db, runId: number, limit: number): Promise<RunLine[]> {
  const { rows } = await db.query<RunLine>(
    `select at, level, message, details from (
        select * from run_line where run_id = $1 order by id desc limit $2) newest
      order by id`,
    [runId, limit],
  )
  return rows
}
