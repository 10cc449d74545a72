/**
 * A file is hashed, compressed and written in pieces of this size: large enough that switching threads costs little, small
 * enough that an event loop which also serves requests is blocked for a millisecond at most.
 */
export const pieceBytes = 512 * 1024

/** Memory for a piece of a file, which is reused: new memory costs more than copying. */
export class Piece {
  readonly bytes = Buffer.allocUnsafeSlow(pieceBytes)
  used = 0

  /** The bytes written so far. */
  get content(): Buffer {
    return this.bytes.subarray(0, this.used)
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
}
