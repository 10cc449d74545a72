/** What a process must give back when it ends: closed in reverse order, every one even if another fails. */
export class Owned {
  readonly #closers: (() => Promise<unknown>)[] = []

  /** Adds something to give back. */
  add(close: () => Promise<unknown>): void {
    this.#closers.push(close)
  }

  /** Gives everything back once; throws the first failure after all have been tried. */
  async dispose(): Promise<void> {
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
