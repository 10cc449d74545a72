/** What a process opened and must close. Everything is closed, in reverse order, also when closing one of them fails. */
export class CleanupStack implements AsyncDisposable {
  readonly #closers: (() => Promise<unknown>)[] = []

  /** Adds what closes the thing opened last. */
  defer(close: () => Promise<unknown>): void {
    this.#closers.push(close)
  }

  /** Closes everything once; throws the first failure after all have been tried. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = []
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
