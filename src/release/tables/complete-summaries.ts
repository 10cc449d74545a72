import { setImmediate as nextTurn } from 'node:timers/promises'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import { parseElement, recordLimits } from '../../kernel/xml/reader.js'
import type { Db } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'
import { toEntry } from '../read/activity-entry.js'
import { saveActivityRows } from '../sql/activity-rows.js'
import { summarizeSegments, textsWithoutRows } from '../sql/segments.js'
import { rowsFormat, toActivityRows } from './table-pieces.js'

const batchSize = 20

/**
 * Summarizes the segments that changed. Published texts without rows and entries, which an earlier version rendered, get them from
 * the texts themselves. Throws `aborted` on the signal.
 */
export async function completeSummaries(store: Store, signal: AbortSignal): Promise<void> {
  for (;;) {
    const incomplete = await store.transaction((db) => summarizeSegments(db, store.db, rowsFormat))
    if (incomplete.length === 0) return
    for (const segment of incomplete) await completeSegment(store.db, segment, signal)
  }
}

async function completeSegment(db: Db, segment: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    refuseAborted(signal, 'making the rows of the tables')
    const texts = await textsWithoutRows(db, segment, rowsFormat, batchSize)
    if (texts.length === 0) return
    await saveActivityRows(
      db,
      texts.map(({ projectId, contentHash, text }) => {
        const activity = parseElement(text, recordLimits)
        const entry = toEntry(activity, projectId, contentHash)
        return { projectId, contentHash, version: rowsFormat.version, ...toActivityRows(activity), ...entry }
      }),
    )
    await nextTurn()
  }
}
