const atOnce = 8

/** Works on a few items at a time; after a failure no further ones are begun. */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  async function* all() {
    yield* items
  }
  const source = all()
  const workers = Array.from({ length: atOnce }, async () => {
    for await (const item of source) await work(item)
  })
  for (const ended of await Promise.allSettled(workers)) if (ended.status === 'rejected') throw ended.reason
}
