import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../domain/errors.js'

// More would make none of them cheaper: what is left over waits for less long in a group of its own, whose other steps go
// on beside those of this one.
const mostTogether = 50

type Waiting<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Calls of one item as calls of many, one at a time: what comes while one is under way waits for the next one, which then
 * takes all of it. A single call waits for nobody. A failure of many that may be one item's is found out one by one.
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
      // A lost connection is nobody's fault, and what it had written may be there: it is not written again.
      if (batch.length === 1 || error instanceof ServiceError) for (const { reject } of batch) reject(error)
      else for (const one of batch) await writeAll([one])
    }
  }
  const drain = async (): Promise<void> => {
    writing = true
    while (waiting.length > 0) {
      // Those whose last step has just ended together come one after the other in this very turn: the first of them must
      // not go alone and leave the others to wait for it.
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
