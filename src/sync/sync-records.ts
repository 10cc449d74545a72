import { isoDateOf } from '../domain/dates.js'
import type { HashedRecord, SaveOptions } from '../domain/record.js'
import { cumulativeTo } from '../import/import.js'
import { recordHash } from '../import/record-hash.js'
import type { SaveOutcome } from '../store/catalogue/save-records.js'
import { saveRecords } from '../store/catalogue/save-records.js'
import { type Db, isDataError } from '../store/database/connection.js'
import type { SyncProblem } from '../store/runs/sync-runs.js'
import { markSeen } from '../store/sync/upstream-projects.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'
import { parseProjectRecord } from '../wire/read/project-record.js'
import { idOf } from '../wire/read/upstream-documents.js'
import type { Checkpoint, Done, SyncSession } from './sync-session.js'

/** Project records of one page, read: those to write, what was refused, and every id that was offered. */
export type ReadRecords = {
  readonly hashed: readonly HashedRecord[]
  readonly problems: readonly SyncProblem[]
  readonly refused: number
  readonly ids: readonly number[]
}

/** Reads the records of a page; of a record that is repeated the last one counts. */
export function readProjectRecords(records: readonly ParsedValue[], session: SyncSession): ReadRecords {
  const today = isoDateOf(session.deps.clock())
  const hashed = new Map<number, HashedRecord>()
  const problems: SyncProblem[] = []
  const ids: number[] = []
  let refused = 0
  for (const value of records) {
    const id = idOf(value)
    if (id !== undefined && id > 0) ids.push(id)
    const reading = parseProjectRecord(value)
    if ('problems' in reading) {
      refused++
      const subject = `project ${reading.recordId ?? '(without id)'}`
      problems.push(...reading.problems.map((problem) => ({ subject, ...problem })))
      continue
    }
    const { record } = reading
    hashed.set(record.id, { record, hash: recordHash(record, false), cumulativeTo: cumulativeTo(record, today) })
  }
  return { hashed: [...hashed.values()], problems, refused, ids }
}

/**
 * Writes a page of project records and moves on. When the database refuses the data of the page, its records are written
 * one by one, to keep the good ones.
 */
export async function writePage(session: SyncSession, read: ReadRecords, next: Checkpoint): Promise<void> {
  try {
    await session.commit(next, async (db) => {
      await markSeen(db, session.runId, read.ids)
      return toDone(read, await saveRecords(db, read.hashed, options(session)))
    })
  } catch (error) {
    if (!isDataError(error)) throw error
    await writeSingly(session, read, next)
  }
}

async function writeSingly(session: SyncSession, read: ReadRecords, next: Checkpoint): Promise<void> {
  const { store } = session.deps
  const sum = { created: 0, changed: 0, unchanged: 0 }
  const refused: SaveOutcome['refused'][number][] = []
  for (const hashed of read.hashed) {
    try {
      await store.transaction(async (db) => {
        const outcome = await saveRecords(db, [hashed], options(session))
        sum.created += outcome.created
        sum.changed += outcome.changed
        sum.unchanged += outcome.unchanged
        refused.push(...outcome.refused)
      })
    } catch (error) {
      if (!isDataError(error)) throw error
      const got = error instanceof Error ? error.message : String(error)
      refused.push({
        id: hashed.record.id,
        problem: { field: 'record', expected: 'a record that the database accepts', got },
      })
    }
  }
  await session.commit(next, async (db: Db) => {
    await markSeen(db, session.runId, read.ids)
    return toDone(read, { ...sum, refused })
  })
}

function options(session: SyncSession): SaveOptions {
  const { clock, currency } = session.deps
  // That a picture is on the platform's site does not say that the people on it agreed to worldwide publication.
  return { source: 'upstream', currency, photoConsent: false, today: isoDateOf(clock()) }
}

function toDone(read: ReadRecords, { created, changed, unchanged, refused }: SaveOutcome): Done {
  return {
    counts: {
      pages: 1,
      records: read.hashed.length + read.refused,
      created,
      changed,
      unchanged,
      refused: read.refused + refused.length,
    },
    problems: [...read.problems, ...refused.map(({ id, problem }) => ({ subject: `project ${id}`, ...problem }))],
  }
}
