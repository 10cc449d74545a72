/** Finds the texts, among many short ones, that have a word containing the search text. */
export class WordIndex {
  readonly #places = new Map<string, number[]>()
  #texts = 0
  /** Every word on a line of its own, the first line empty. */
  #words = '\n'

  /** Adds the next text, its words separated by blanks. */
  add(text: string): void {
    const place = this.#texts++
    for (const word of new Set(text.split(' '))) {
      const places = this.#places.get(word)
      if (places) places.push(place)
      else {
        this.#places.set(word, [place])
        this.#words += `${word}\n`
      }
    }
  }

  /** The places of the texts and `others`, in order; `part` has neither a blank nor a line end. */
  find(part: string, others: readonly (readonly number[])[] = []): number[] {
    const isFound = new Uint8Array(this.#texts)
    for (const places of others) for (const place of places) isFound[place] = 1
    for (let at = this.#words.indexOf(part); at >= 0; at = this.#words.indexOf(part, at)) {
      const start = this.#words.lastIndexOf('\n', at) + 1
      at = this.#words.indexOf('\n', at)
      for (const place of this.#places.get(this.#words.slice(start, at)) ?? []) isFound[place] = 1
    }
    const found: number[] = []
    for (let place = isFound.indexOf(1); place >= 0; place = isFound.indexOf(1, place + 1)) found.push(place)
    return found
  }
}
