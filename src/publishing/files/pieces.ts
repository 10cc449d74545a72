import { constants, createDeflateRaw } from 'node:zlib'

/**
 * A file is hashed, compressed and written in pieces of this size: large enough that switching threads costs little, small
 * enough that an event loop which also serves requests is blocked for a millisecond at most.
 */
export const pieceBytes = 512 * 1024

const deflateOptions = {
  level: constants.Z_BEST_SPEED,
  // Flushes after every write, so that a piece is one step in another thread.
  flush: constants.Z_FULL_FLUSH,
  chunkSize: 256 * 1024,
  // All blocks of a piece are read at once, however badly it compresses.
  readableHighWaterMark: 2 * pieceBytes,
}

/** Memory for a piece of a file, and its compressor. Both are reused: new memory costs more than copying. */
export class Piece {
  readonly bytes = Buffer.allocUnsafeSlow(pieceBytes)
  used = 0
  #deflate: ReturnType<typeof createDeflateRaw> | undefined

  /** The bytes written so far. */
  get content(): Buffer {
    return this.bytes.subarray(0, this.used)
  }

  /**
   * The content as whole deflate blocks (level 1) that end on a byte and refer to nothing before them: pieces are
   * compressed in parallel, and their blocks form one stream.
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

/** Pieces to be reused. */
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
