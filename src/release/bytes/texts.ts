/** Texts of a file in order, in batches; a batch may be overwritten once the next one is asked for. */
export type Texts = AsyncIterable<readonly Buffer[]>

/** Texts of several files that are written together: each batch has those of each file. */
export type TextsOfFiles = AsyncIterable<readonly (readonly Buffer[])[]>

/** The texts as one batch. */
export async function* inOneBatch(...texts: readonly (string | Buffer)[]): Texts {
  yield texts.map((text) => Buffer.from(text))
}
