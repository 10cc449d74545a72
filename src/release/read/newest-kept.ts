/** Keeps the newest few of what is slow to make, each made once for all who ask at the same time. */
export class NewestKept<T> {
  readonly #kept = new Map<string, Promise<T>>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  /** The kept one of this key, or what `make` makes. A failure is not kept, and evicts nothing. */
  async get(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(key)
    if (known) return await known
    const making = make()
    this.#kept.set(key, making)
    try {
      const made = await making
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size <= this.#most) break
        this.#kept.delete(oldest)
      }
      return made
    } catch (error) {
      this.#kept.delete(key)
      throw error
    }
  }
}
