import { constants, createDeflateRaw } from 'node:zlib'

const options = {
  level: constants.Z_BEST_SPEED,
  // Flushes after every write, so that a text is one step in another thread.
  flush: constants.Z_FULL_FLUSH,
  chunkSize: 256 * 1024,
  // All blocks of a text are read at once, however badly it compresses.
  readableHighWaterMark: 2 ** 30,
}

/** A compressor to be used for many texts: a new one costs more than compressing a few kilobytes. */
export class Deflater {
  readonly #deflate = createDeflateRaw(options)

  /** The text as whole deflate blocks (level 1) that end on a byte and refer to nothing before them. */
  async deflated(text: Buffer): Promise<Buffer> {
    const deflate = this.#deflate
    return await new Promise((resolve, reject) => {
      deflate.once('error', reject)
      deflate.write(text, () => {
        deflate.off('error', reject)
        resolve(deflate.read() as Buffer)
      })
    })
  }

  /** Gives its memory back. */
  close(): void {
    this.#deflate.close()
  }
}
