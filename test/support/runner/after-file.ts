const asked: (() => Promise<unknown>)[] = []

/** Does this after the tests of the file, wherever it is asked for: vitest never calls an `afterAll` of a hook or a test. */
export function afterFile(work: () => Promise<unknown>): void {
  asked.push(work)
}

/** Does what the file has asked for, the newest first. */
export async function endFile(): Promise<void> {
  for (const work of asked.splice(0).reverse()) await work()
}
