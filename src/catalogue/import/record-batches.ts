import type { ParsedValue } from '../wire/read/parsed-value.js'

const mostRecords = 100
// Most records have a few kilobytes; of large ones a batch holds fewer, so that its memory stays bounded.
const mostCharacters = 1_000_000

/** Decides when a batch of records is full: by their number or their size. */
export class BatchLimit {
  #records = 0
  #characters = 0
  readonly #most: number

  constructor(most = mostRecords) {
    this.#most = most
  }

  /** Counts a record and returns whether it fills the batch; then the count starts again. */
  add(record: ParsedValue): boolean {
    this.#records++
    this.#characters += charactersOf(record)
    if (this.#records < this.#most && this.#characters < mostCharacters) return false
    this.#records = 0
    this.#characters = 0
    return true
  }
}

/** Groups a stream of records into batches that are saved together. */
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
