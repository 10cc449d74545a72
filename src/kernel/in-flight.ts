/** Makes each thing once for all who ask for it while it is being made; nothing is kept afterwards. */
export class InFlight<T> {
  readonly #making = new Map<string, Promise<T>>()

  async get(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#making.get(key)
    if (known) return await known
    const making = make().finally(() => this.#making.delete(key))
    this.#making.set(key, making)
    return await making
  }
}
