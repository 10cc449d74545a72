import DataLoader from 'dataloader'

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
 * Lets reads of the same turn of the event loop share one statement of at most `most` keys: under load many requests
 * arrive in a turn, and a statement costs database and driver more than most of its rows. A read on its own waits only
 * for the end of the turn. Reads never join a statement that has been sent, so each sees what was committed before it was
 * asked for. When a statement fails, all reads that share it fail.
 */
export function createReadTogether<Key, Value>(most: number): ReadTogether<Key, Value> {
  const loaders = new Map<string, DataLoader<Key, Value | undefined>>()
  return (what, key, read) => {
    const loader =
      loaders.get(what) ??
      new DataLoader<Key, Value | undefined>(
        async (keys) => {
          // One loader per turn: its cache only merges equal keys of that turn.
          if (loaders.get(what) === loader) loaders.delete(what)
          const found = await read(keys)
          return keys.map((one) => found.get(one))
        },
        { maxBatchSize: most, batchScheduleFn: setImmediate },
      )
    loaders.set(what, loader)
    return loader.load(key)
  }
}
