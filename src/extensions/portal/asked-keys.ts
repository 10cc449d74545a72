import { LRUCache } from 'lru-cache'

// More keys than a reader comes back to.
const mostKeys = 2_000
const mostCharacters = 500_000

/**
 * Tells what is asked for again, and so is worth keeping. Of programs that guess, answers would take each other's place, and
 * freeing them holds all requests up.
 */
export class AskedKeys {
  readonly #keys = new LRUCache<string, true>({
    max: mostKeys,
    maxSize: mostCharacters,
    sizeCalculation: (_, key) => key.length,
  })

  /** Whether the key was asked for not long ago; it is from now on. */
  isAskedAgain(key: string): boolean {
    const isKnown = this.#keys.has(key)
    this.#keys.set(key, true)
    return isKnown
  }
}
