import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../kernel/errors.js'

// Larger batches are no faster; further items form the next batch.
const mostTogether = 50

type Waiting<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Turns calls of one item into calls of many, one batch at a time: items that come while a batch is being written form
 * the next one. A single call waits for no other. When a batch fails for its data, its items are written one by one, so
 * that only those at fault fail.
 */
export function together<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let writing = false

  const writeAll = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await write(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
    } catch (error) {
      // After a lost connection the batch may have been written: it is not written again.
      if (batch.length === 1 || error instanceof ServiceError) for (const { reject } of batch) reject(error)
      else for (const one of batch) await writeAll([one])
    }
  }
  const drain = async (): Promise<void> => {
    writing = true
    while (waiting.length > 0) {
      // The next turn: calls that follow on the same batch come one after the other in this turn, and the first of them
      // must not be written alone.
      await nextTurn()
      const batch = waiting.slice(0, mostTogether)
      waiting = waiting.slice(mostTogether)
      await writeAll(batch)
    }
    writing = false
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!writing) void drain()
    })
}
