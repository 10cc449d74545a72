/** Texts of a file in order, in batches; a batch may be overwritten once the next one is asked for. */
export type Texts = AsyncIterable<readonly Buffer[]>

/** The texts as one batch. */
export async function* inOneBatch(...texts: readonly (string | Buffer)[]): Texts {
  yield texts.map((text) => Buffer.from(text))
}
