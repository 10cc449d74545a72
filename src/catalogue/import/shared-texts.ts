import { ServiceError } from '../../kernel/errors.js'

const blockBytes = 1024 * 1024
const mostBytes = 192 * 1024 * 1024
const mostTexts = 8_000_000

/** The texts that the cells of a workbook share: they lie in blocks of bytes, outside of V8's heap, and are found by number. */
export class SharedTexts {
  readonly #blocks: Buffer[] = []
  #places = new Float64Array(1024)
  #count = 0
  #used = blockBytes
  #bytes = 0

  add(text: string): void {
    const length = Buffer.byteLength(text)
    this.#bytes += length
    if (this.#bytes > mostBytes || this.#count >= mostTexts)
      throw new ServiceError('input-unusable', 'a workbook with more text than is read: save the sheet as "CSV UTF-8"')
    if (this.#used + length > (this.#blocks.at(-1)?.length ?? 0)) {
      this.#blocks.push(Buffer.allocUnsafeSlow(Math.max(blockBytes, length)))
      this.#used = 0
    }
    this.#blocks.at(-1)?.write(text, this.#used)
    if (this.#count * 2 + 2 > this.#places.length) {
      const more = new Float64Array(this.#places.length * 2)
      more.set(this.#places)
      this.#places = more
    }
    this.#places[this.#count * 2] = (this.#blocks.length - 1) * 2 ** 32 + this.#used
    this.#places[this.#count * 2 + 1] = length
    this.#used += length
    this.#count++
  }

  /** The text with this number; empty where there is none. */
  at(index: number): string {
    if (!(index >= 0 && index < this.#count)) return ''
    const place = this.#places[index * 2] ?? 0
    const start = place % 2 ** 32
    return (
      this.#blocks[Math.floor(place / 2 ** 32)]?.toString('utf8', start, start + (this.#places[index * 2 + 1] ?? 0)) ??
      ''
    )
  }
}
