/** Texts of a file in order, in batches; a batch may be overwritten once the next one is asked for. */
export type Texts = AsyncIterable<readonly Buffer[]>

/** Where a block begins in each of the files that are written; undefined in one that gets none of its records. */
export class BlockStart {
  readonly fingerprints: readonly (string | undefined)[]

  constructor(fingerprints: readonly (string | undefined)[]) {
    this.fingerprints = fingerprints
  }
}

/**
 * Texts of several files that are written together: each batch has those of each file. What follows the start of a block is in
 * it until the next one starts.
 */
export type TextsOfFiles = AsyncIterable<readonly (readonly Buffer[])[] | BlockStart>

/** The texts as one batch. */
export async function* inOneBatch(...texts: readonly (string | Buffer)[]): Texts {
  yield texts.map((text) => Buffer.from(text))
}
