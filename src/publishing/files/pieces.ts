import { constants, createDeflateRaw } from 'node:zlib'

/**
 * How a file is hashed, compressed and written: at one time so much of it. Large enough that the steps between threads
 * cost little, small enough that an event loop which also serves requests is held up for a millisecond at most.
 */
export const pieceBytes = 512 * 1024

const deflateOptions = {
  level: constants.Z_BEST_SPEED,
  // After every write, so that a piece is one step in another thread.
  flush: constants.Z_FULL_FLUSH,
  chunkSize: 256 * 1024,
  // All of a piece's blocks are taken at once, however badly it compresses.
  readableHighWaterMark: 2 * pieceBytes,
}

/** Memory for a piece of a file, and what compresses it. Both are used again: new memory costs more than copying. */
export class Piece {
  readonly bytes = Buffer.allocUnsafeSlow(pieceBytes)
  used = 0
  #deflate: ReturnType<typeof createDeflateRaw> | undefined

  /** The bytes that it holds. */
  get content(): Buffer {
    return this.bytes.subarray(0, this.used)
  }

  /**
   * Its content as whole deflate blocks (level 1) that end on a byte and refer to nothing before them: pieces can be
   * compressed at the same time, and their blocks joined to one stream.
   */
  async deflated(): Promise<Buffer> {
    this.#deflate ??= createDeflateRaw(deflateOptions)
    const deflate = this.#deflate
    return await new Promise((resolve, reject) => {
      deflate.once('error', reject)
      deflate.write(this.content, () => {
        deflate.off('error', reject)
        resolve(deflate.read() as Buffer)
      })
    })
  }

  /** Gives its memory back. */
  close(): void {
    this.#deflate?.close()
  }
}

/** Pieces that wait to be used again. */
export class PiecePool {
  readonly #free: Piece[] = []

  take(): Piece {
    return this.#free.pop() ?? new Piece()
  }

  give(piece: Piece): void {
    piece.used = 0
    this.#free.push(piece)
  }

  close(): void {
    for (const piece of this.#free.splice(0)) piece.close()
  }
}
