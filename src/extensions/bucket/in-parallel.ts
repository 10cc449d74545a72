const atOnce = 8

/** Works on a few items at a time; after a failure no further ones are begun by its worker, unless it may have `failures`. */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
  failures = 0,
): Promise<void> {
  const failed: unknown[] = []
  async function* all() {
    yield* items
  }
  const source = all()
  const workers = Array.from({ length: atOnce }, async () => {
    for await (const item of source) {
      await work(item).catch((error: unknown) => {
        failed.push(error)
        if (failed.length > failures) throw error
      })
    }
  })
  for (const ended of await Promise.allSettled(workers)) if (ended.status === 'rejected') throw ended.reason
  if (failed.length > 0) throw failed[0]
}
