import type { Clock } from '../../domain/dates.js'
import { findProjectHits, type ProjectHits, type ProjectSearch } from '../../store/ready-texts/project-search.js'
import type { Store } from '../../store/store.js'
import { createFairTurns } from './fair-turns.js'

/** Lists of hits of earlier searches. Whoever reads one checks that it still holds, and forgets it if not. */
export type HitLists = {
  /** The hits of this search, found anew where they are not remembered; ends when every `signal` that waits is aborted. */
  find(client: string, signal: AbortSignal, search: ProjectSearch): Promise<ProjectHits>
  forget(search: ProjectSearch, hits: ProjectHits): void
}

// A list of 100,000 hits has 800 KB; a short one costs what surrounds it.
const rememberedBytes = 32_000_000
const bytesOfEach = 1_000
// Marks of changes are kept for longer (src/store/pruning.ts).
const rememberedMs = 3_600_000

const waitingSearches = 64

type HitList = {
  readonly hits: (signal: AbortSignal) => Promise<ProjectHits>
  readonly until: number
  /** Once they were found. */
  found?: ProjectHits
}

/**
 * Remembers lists of hits in memory, those used last longest. Equal searches at the same time are done once. One client
 * leaves a connection of `searches` to the others.
 */
export function createHitLists(searches: Store, clock: Clock): HitLists {
  // Those used last are last.
  const lists = new Map<string, HitList>()
  const most = searches.connections
  const inTurn = createFairTurns({ most, each: Math.max(1, most - 1), waiting: waitingSearches })
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
      if (bytes <= rememberedBytes) return
      if (one.found) remove(oldest, one)
    }
  }
  const start = (key: string, client: string, search: ProjectSearch) => {
    const work = (signal: AbortSignal) =>
      inTurn(client, () => searches.abortable(signal, (db) => findProjectHits(db, search)))
    const forgetIt = () => remove(key, list)
    const { result, share } = shareWork(work, forgetIt)
    const list: HitList = { hits: share, until: clock().getTime() + rememberedMs }
    lists.set(key, list)
    result.then((found) => keep(key, list, found), forgetIt)
    return list
  }
  return {
    async find(client, signal, search) {
      const key = keyOf(search)
      const known = lists.get(key)
      if (known === undefined || known.until <= clock().getTime()) {
        if (known) remove(key, known)
        return await start(key, client, search).hits(signal)
      }
      lists.delete(key)
      lists.set(key, known)
      return known.found ?? (await known.hits(signal))
    },
    forget(search, hits) {
      const key = keyOf(search)
      const list = lists.get(key)
      if (list?.found === hits) remove(key, list)
    },
  }
}

function keyOf({ words, themeIds, countryCodes }: ProjectSearch): string {
  return JSON.stringify([words, themeIds, countryCodes])
}

function bytesOf({ ids }: ProjectHits): number {
  return ids.length + bytesOfEach
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
