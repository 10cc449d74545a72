import { idOf, type Page, unusable } from '../wire/read/upstream-documents.js'
import type { Checkpoint } from './sync-session.js'

// At most 100 are asked for.
const mostPageRecords = 1000
export const mostListRecords = 2_000_000
// An upstream that states no number may have twice the projects of the last run, plus these.
const unstatedGrowth = 100_000
// An upstream that states a number may have twice as many at the end of the walk, plus these.
const statedGrowth = 1000

/**
 * Refuses a list that would never end, or skip records: the cursor is an inclusive lower bound over ascending ids. `found`
 * is how many records the upstream states, `known` how many projects it had at the last run.
 */
export function refuseEndless(
  { records, next }: Page,
  { cursor, walked }: Pick<Checkpoint, 'cursor' | 'walked'>,
  noun: 'project' | 'organisation',
  found: number | undefined,
  known: number,
): void {
  if (records.length > mostPageRecords) throw unusable(`a page of ${records.length} records where 100 were asked for`)
  const ids = records.flatMap((record) => idOf(record) ?? [])
  const early = ids.find((id) => id < cursor)
  if (early !== undefined) throw unusable(`${noun} ${early} on the page that begins at ${cursor}`)
  if (next === undefined) return
  if (next <= Math.max(cursor, ...ids)) throw unusable(`a page at ${cursor} whose next page begins at ${next}`)
  if (records.length === 0) throw unusable(`an empty page at ${cursor} that has a next one`)
  const most = found === undefined ? known * 2 + unstatedGrowth : found * 2 + statedGrowth
  if (walked + records.length > Math.min(most, mostListRecords)) {
    const expected = found === undefined ? `${known} at the last run` : `${found} stated`
    throw unusable(`${walked + records.length} ${noun}s, ${expected}, and a next page`)
  }
}
