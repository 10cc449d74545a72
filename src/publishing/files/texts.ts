/** Texts in the order of a file, a batch at a time; they may be overwritten when the next batch is asked for. */
export type Texts = AsyncIterable<readonly Buffer[]>

/** The texts as one batch. */
export async function* inOneBatch(...texts: readonly (string | Buffer)[]): Texts {
  yield texts.map((text) => Buffer.from(text))
}
