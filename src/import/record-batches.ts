import type { ParsedValue } from '../wire/read/parsed-value.js'

const mostRecords = 100
// Records are a few kilobytes; of very large ones a batch holds fewer, so that memory does not depend on them.
const mostCharacters = 1_000_000

/** Says when the records gathered so far should be written: there are many, or they are large. */
export class BatchLimit {
  #records = 0
  #characters = 0

  /** Counts a record; returns whether the batch is full with it. A full batch starts the next count. */
  add(record: ParsedValue): boolean {
    this.#records++
    this.#characters += charactersOf(record)
    if (this.#records < mostRecords && this.#characters < mostCharacters) return false
    this.#records = 0
    this.#characters = 0
    return true
  }
}

/** Cuts a stream of records into batches to be written at once. */
export async function* inBatches(records: AsyncIterable<ParsedValue>): AsyncGenerator<ParsedValue[]> {
  const limit = new BatchLimit()
  let batch: ParsedValue[] = []
  for await (const record of records) {
    batch.push(record)
    if (!limit.add(record)) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function charactersOf(value: ParsedValue): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, part: ParsedValue) => sum + charactersOf(part), 0)
}
