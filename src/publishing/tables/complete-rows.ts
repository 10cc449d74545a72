import { setImmediate as nextTurn } from 'node:timers/promises'
import { tablesVersion } from '../../feeds/tables/tables.js'
import { saveActivityRows } from '../../store/publication/activity-rows.js'
import { textsWithoutRows } from '../../store/publication/segments.js'
import type { Store } from '../../store/store.js'
import { parseElement, recordLimits } from '../../xml/reader.js'
import { refuseAborted } from '../folder/refuse-aborted.js'
import { rowsFormat, toActivityRows } from './table-pieces.js'

const batchSize = 20

/** Makes the rows of published texts that have none, from the texts themselves. Throws `aborted` on the signal. */
export async function completeRows({ db }: Store, signal: AbortSignal): Promise<void> {
  for (;;) {
    refuseAborted(signal, 'making the rows of the tables')
    const texts = await textsWithoutRows(db, rowsFormat, batchSize)
    if (texts.length === 0) return
    await saveActivityRows(
      db,
      texts.map(({ projectId, contentHash, text }) => ({
        ...{ projectId, contentHash, version: tablesVersion },
        ...toActivityRows(parseElement(text, recordLimits)),
      })),
    )
    await nextTurn()
  }
}
