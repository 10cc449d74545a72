import { isoDateOf } from '../../kernel/dates.js'
import type { HashedRecord, SaveOptions } from '../../kernel/record.js'
import { createYielder } from '../../kernel/yielder.js'
import { type Db, isDataError } from '../../platform/database/connection.js'
import { toHashedRecord } from '../import/hashed-record.js'
import { saveSingly } from '../import/save-singly.js'
import { type SaveOutcome, saveRecords } from '../sql/save-records.js'
import type { SyncProblem } from '../sql/sync-runs.js'
import { markSeen } from '../sql/upstream-projects.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'
import { parseProjectRecord } from '../wire/read/project-record.js'
import { idOf } from '../wire/read/upstream-documents.js'
import type { Checkpoint, Done, SyncSession } from './sync-session.js'

/** The records of a page: those to save, the refused ones, and every id that the upstream offered. */
export type ReadRecords = {
  readonly hashed: readonly HashedRecord[]
  readonly problems: readonly SyncProblem[]
  readonly refused: number
  readonly ids: readonly number[]
}

/** Reads the records of a page, yielding to other work; the last of equal ids counts. */
export async function readProjectRecords(records: readonly ParsedValue[], session: SyncSession): Promise<ReadRecords> {
  const yieldIfDue = createYielder()
  const saving = optionsOf(session)
  const hashed = new Map<number, HashedRecord>()
  const problems: SyncProblem[] = []
  const ids: number[] = []
  let refused = 0
  for (const value of records) {
    await yieldIfDue()
    const id = idOf(value)
    if (id !== undefined && id > 0) ids.push(id)
    const reading = parseProjectRecord(value, saving.today)
    if ('problems' in reading) {
      refused++
      const subject = `project ${reading.recordId ?? '(without id)'}`
      problems.push(...reading.problems.map((problem) => ({ subject, ...problem })))
      continue
    }
    hashed.set(reading.record.id, toHashedRecord(reading.record, saving, session.deps.clock()))
  }
  return { hashed: [...hashed.values()], problems, refused, ids }
}

/** Saves a page of records and moves on; records of a page that the database refuses are saved one by one. */
export async function writePage(session: SyncSession, read: ReadRecords, next: Checkpoint): Promise<void> {
  const saving = optionsOf(session)
  const commit = (save: (db: Db) => Promise<SaveOutcome>) =>
    session.commit(next, async (db) => {
      await markSeen(db, session.runId, read.ids)
      return toDone(read, await save(db))
    })
  try {
    await commit((db) => saveRecords(db, read.hashed, saving))
  } catch (error) {
    if (!isDataError(error)) throw error
    const outcome = await saveSingly(session.deps.store, read.hashed, saving)
    await commit(async () => outcome)
  }
}

function optionsOf(session: SyncSession): SaveOptions {
  const { clock, currency } = session.deps
  // A picture on the platform's site does not prove that the people on it agreed to worldwide publication.
  return { source: 'upstream', currency, photoConsent: false, today: isoDateOf(clock()) }
}

function toDone(read: ReadRecords, { created, changed, unchanged, refused, kept }: SaveOutcome): Done {
  return {
    counts: {
      pages: 1,
      records: read.hashed.length + read.refused,
      created,
      changed,
      unchanged,
      refused: read.refused + refused.length,
    },
    problems: [
      ...read.problems,
      ...[...refused, ...kept].map(({ id, problem }) => ({ subject: `project ${id}`, ...problem })),
    ],
  }
}
