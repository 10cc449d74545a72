import type { ProjectHits } from '../../../catalogue/sql/ready-texts/project-hits.js'
import {
  findProjectHits,
  type ProjectSearch,
  updateProjectHits,
} from '../../../catalogue/sql/ready-texts/project-search.js'
import type { Clock } from '../../../kernel/dates.js'
import type { Store } from '../../../platform/database/store.js'
import { createFairQueue } from './fair-queue.js'

/** Where and when hits are found: `searches` has separate connections, so that slow searches delay no other read. */
export type HitListDeps = { readonly reads: Store; readonly searches: Store; readonly clock: Clock }

/**
 * The hits of a search, found where they are not remembered, and updated where they are `outdated`. Whoever reads them
 * checks that they still hold. The work ends when every `signal` that waits for it is aborted.
 */
export type FindHits = (
  account: number,
  signal: AbortSignal,
  search: ProjectSearch,
  outdated?: ProjectHits,
) => Promise<ProjectHits>

// A list of 100,000 hits has 1.2 MB; a short one costs what surrounds it.
const rememberedBytes = 48_000_000
const bytesOfEach = 1_000
// Marks of changes are kept for longer (src/release/sql/pruning.ts).
const rememberedMs = 3_600_000

type HitList = {
  readonly hits: (signal: AbortSignal) => Promise<ProjectHits>
  readonly until: number
  /** Once they were found. */
  found?: ProjectHits
}

/**
 * Remembers lists of hits in memory, those used last longest. Equal searches at the same time are done once. One account
 * leaves a connection of `searches` to the others.
 */
export function createHitLists({ reads, searches, clock }: HitListDeps, mostBytes = rememberedBytes): FindHits {
  // Ordered by last use, newest last.
  const lists = new Map<string, HitList>()
  const most = searches.connections
  const fairly = createFairQueue({ most, each: Math.max(1, most - 1), waiting: 64, waitMs: 5_000 })
  let bytes = 0
  const remove = (key: string, list: HitList) => {
    if (lists.get(key) !== list) return
    lists.delete(key)
    if (list.found) bytes -= bytesOf(list.found)
  }
  const keep = (key: string, list: HitList, found: ProjectHits) => {
    if (lists.get(key) !== list) return
    list.found = found
    bytes += bytesOf(found)
    for (const [oldest, one] of lists) {
      if (bytes <= mostBytes) return
      if (one.found) remove(oldest, one)
    }
  }
  const start = (key: string, account: number, search: ProjectSearch, outdated: ProjectHits | undefined) => {
    const work = async (signal: AbortSignal) =>
      (outdated && (await updateProjectHits(reads.db, search, outdated))) ??
      (await fairly(account, () => searches.abortable(signal, (db) => findProjectHits(db, search))))
    const forget = () => remove(key, list)
    const { result, share } = shareWork(work, forget)
    const list: HitList = { hits: share, until: clock().getTime() + rememberedMs }
    lists.set(key, list)
    result.then((found) => keep(key, list, found), forget)
    return list
  }
  return async (account, signal, search, outdated) => {
    const key = keyOf(search)
    const known = lists.get(key)
    const holds = known && known.until > clock().getTime() && (outdated === undefined || known.found !== outdated)
    if (!holds) {
      if (known) remove(key, known)
      return await start(key, account, search, outdated).hits(signal)
    }
    // Moves it to the end, as the newest.
    lists.delete(key)
    lists.set(key, known)
    return known.found ?? (await known.hits(signal))
  }
}

function keyOf({ words, themeIds, countryCodes }: ProjectSearch): string {
  return JSON.stringify([words, themeIds, countryCodes])
}

function bytesOf({ ids, ranks }: ProjectHits): number {
  return ids.byteLength + ranks.byteLength + bytesOfEach
}

/** Starts work that several may wait for; when all of them have gone it is aborted, and `onAbort` is called before. */
function shareWork<T>(work: (signal: AbortSignal) => Promise<T>, onAbort: () => void) {
  const gone = new AbortController()
  const result = work(gone.signal)
  let waiting = 0
  const share = async (signal: AbortSignal): Promise<T> => {
    waiting++
    const leave = () => {
      waiting--
      if (waiting > 0) return
      onAbort()
      gone.abort()
    }
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await result
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }
  return { result, share }
}
