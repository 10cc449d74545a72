import { setImmediate as turnEnds } from 'node:timers/promises'

/**
 * Reads one key with a statement that takes many; undefined when nothing was found. Reads with the same `what` share a
 * statement, so it must name everything but the keys.
 */
export type ReadTogether<Key, Value> = (
  what: string,
  key: Key,
  read: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>,
) => Promise<Value | undefined>

/**
 * Lets reads that are asked for in the same turn of the event loop share one statement of at most `most` keys: under load
 * many requests arrive in a turn, and a statement costs database and driver more than most of its rows. Who is alone waits
 * for nothing but the end of the turn. Nobody joins a statement that has been sent, so each read sees what was committed
 * before it was asked for. When a statement fails, it fails for all who share it.
 */
export function createReadTogether<Key, Value>(most: number): ReadTogether<Key, Value> {
  const waiting = new Map<string, { readonly keys: Set<Key>; readonly found: Promise<ReadonlyMap<Key, Value>> }>()
  return async (what, key, read) => {
    let shared = waiting.get(what)
    if (!shared) {
      const keys = new Set<Key>()
      const found = turnEnds().then(async () => {
        if (waiting.get(what)?.keys === keys) waiting.delete(what)
        return await read([...keys])
      })
      shared = { keys, found }
      waiting.set(what, shared)
    }
    shared.keys.add(key)
    if (shared.keys.size >= most) waiting.delete(what)
    return (await shared.found).get(key)
  }
}
