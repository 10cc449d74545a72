import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { gzipHead, gzipTail, storedBlock } from './gzip.js'
import type { Piece, PiecePool } from './pieces.js'

/** What was written: identity size and hash, size of the gzip twin. */
export type WrittenFile = {
  readonly bytes: number
  readonly gzipBytes: number
  readonly sha256: string
  readonly contentSha256?: string
}

/**
 * What stands before and after the records of a file. `stamp` is text in `head` that `contentSha256` leaves out: the time
 * at which the file was generated.
 */
export type FileEnvelope = { readonly head: string; readonly tail: string; readonly stamp?: string }

/** A part of an open file: `end` is the first byte that is not in it. */
export type FilePart = { readonly file: FileHandle; readonly start: number; readonly end: number }

// Pieces of a file that are compressed and written while the next one is filled: enough for two cores.
const maxSent = 4

const nothing = Buffer.alloc(0)

/**
 * A file and its gzip twin being written, piece by piece: hashed in order, compressed and written beside each other.
 *
 * In the twin the envelope is stored as it is, and the records are blocks of their own between: the records of one twin
 * can be copied into another (`addPart`). Where the pieces are cut depends on the content alone, and so do all bytes.
 */
export class FileWriter {
  /** Where the file is. */
  readonly target: string
  readonly #identity: FileHandle
  readonly #twin: FileHandle | undefined
  readonly #pool: PiecePool
  readonly #envelope: FileEnvelope
  readonly #hash = createHash('sha256')
  readonly #contentHash: ReturnType<typeof createHash> | undefined
  readonly #sent: Promise<void>[] = []
  #piece: Piece | undefined
  #bytes = 0
  #gzipBytes = 0
  #crc = 0
  #twinWritten: Promise<void> = Promise.resolve()

  private constructor(
    target: string,
    { identity, twin }: { readonly identity: FileHandle; readonly twin: FileHandle | undefined },
    { pool, envelope }: { readonly pool: PiecePool; readonly envelope: FileEnvelope },
  ) {
    this.target = target
    this.#identity = identity
    this.#twin = twin
    this.#pool = pool
    this.#envelope = envelope
    if (envelope.stamp !== undefined) this.#contentHash = createHash('sha256')
  }

  /** Begins a new file, and its twin beside it if it is to have one. */
  static async create(
    target: string,
    options: { readonly pool: PiecePool; readonly twin: boolean; readonly envelope: FileEnvelope },
  ): Promise<FileWriter> {
    const identity = await open(target, 'wx')
    let twin: FileHandle | undefined
    try {
      if (options.twin) twin = await open(`${target}.gz`, 'wx')
      const writer = new FileWriter(target, { identity, twin }, options)
      writer.#begin()
      return writer
    } catch (error) {
      await identity.close()
      await twin?.close()
      throw error
    }
  }

  /** Appends the texts; they may be overwritten when it has resolved. */
  async add(texts: readonly Buffer[]): Promise<void> {
    for (const text of texts) {
      for (let from = 0; from < text.length; ) {
        const piece = this.#piece ?? (await this.#take())
        const copied = text.copy(piece.bytes, piece.used, from)
        from += copied
        piece.used += copied
        if (piece.used === piece.bytes.length) this.#send()
      }
    }
  }

  /** Appends a part of another file; where `deflated` has the same part of its twin, nothing is compressed again. */
  async addPart(part: FilePart, deflated: FilePart | undefined): Promise<void> {
    this.#send()
    for (let at = part.start; at < part.end; ) {
      const piece = this.#piece ?? (await this.#take())
      at += await read(part.file, piece, at, part.end)
      if (piece.used === piece.bytes.length || at === part.end) this.#send(deflated ? 'stored already' : 'compress')
    }
    if (!deflated) return
    for (let at = deflated.start; at < deflated.end; ) {
      const piece = await this.#take()
      at += await read(deflated.file, piece, at, deflated.end)
      this.#piece = undefined
      this.#follow(piece, this.#writeTwin(Promise.resolve(piece.content)))
    }
  }

  /** Ends the file; all is written, but not yet on the disk. */
  async end(): Promise<WrittenFile> {
    const { tail } = this.#envelope
    this.#send()
    await Promise.all(this.#sent)
    await this.#writeIdentity(Buffer.from(tail))
    await this.#writeTwin(Promise.resolve(storedBlock(tail, 'last')))
    await this.#writeTwin(Promise.resolve(gzipTail(this.#crc, this.#bytes)))
    const contentSha256 = this.#contentHash?.digest('hex')
    return {
      bytes: this.#bytes,
      gzipBytes: this.#gzipBytes,
      sha256: this.#hash.digest('hex'),
      ...(contentSha256 !== undefined && { contentSha256 }),
    }
  }

  /** Brings the file and its twin to the disk and closes them. */
  async sync(): Promise<void> {
    try {
      await Promise.all([this.#identity.sync(), this.#twin?.sync()])
    } finally {
      await this.close()
    }
  }

  /** Closes the files once nothing is written to them any more. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#sent)
    await Promise.all([this.#identity.close(), this.#twin?.close()])
  }

  #begin(): void {
    const { head, stamp } = this.#envelope
    const content = stamp === undefined ? head : head.replace(stamp, '')
    this.#promise(this.#writeIdentity(Buffer.from(head), Buffer.from(content)))
    this.#promise(
      this.#writeTwin(Promise.resolve(Buffer.concat([gzipHead, head === '' ? nothing : storedBlock(head)]))),
    )
  }

  async #take(): Promise<Piece> {
    if (this.#sent.length >= maxSent) await this.#sent.shift()
    this.#piece = this.#pool.take()
    return this.#piece
  }

  #send(how: 'compress' | 'stored already' = 'compress'): void {
    const piece = this.#piece
    if (!piece) return
    this.#piece = undefined
    const written = this.#writeIdentity(piece.content)
    const compressed = this.#twin && how === 'compress' ? this.#writeTwin(piece.deflated()) : undefined
    this.#follow(piece, Promise.all([written, compressed]))
  }

  /** Gives the piece back when the work on it is done. */
  #follow(piece: Piece, work: Promise<unknown>): void {
    this.#promise(work.then(() => this.#pool.give(piece)))
  }

  /** Work that goes on beside the next; whoever waits for it hears of its failure. */
  #promise(work: Promise<void>): void {
    work.catch(() => undefined)
    this.#sent.push(work)
  }

  #writeIdentity(bytes: Buffer, content = bytes): Promise<void> {
    const position = this.#bytes
    this.#bytes += bytes.length
    this.#hash.update(bytes)
    this.#contentHash?.update(content)
    if (this.#twin) this.#crc = crc32(bytes, this.#crc)
    return writeAll(this.#identity, bytes, position)
  }

  /** Appends to the twin, in the order of the calls. */
  #writeTwin(bytes: Promise<Buffer>): Promise<void> {
    const twin = this.#twin
    if (!twin) return Promise.resolve()
    const before = this.#twinWritten
    this.#twinWritten = Promise.all([bytes, before]).then(async ([ready]) => {
      const position = this.#gzipBytes
      this.#gzipBytes += ready.length
      await writeAll(twin, ready, position)
    })
    return this.#twinWritten
  }
}

/** A write may be cut short, as by a disk that is about to be full: the next one then says why. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten
  }
}

/** Fills the piece from the file; returns how many bytes it took. */
async function read(file: FileHandle, piece: Piece, from: number, end: number): Promise<number> {
  const room = Math.min(piece.bytes.length - piece.used, end - from)
  const { bytesRead } = await file.read(piece.bytes, piece.used, room, from)
  if (bytesRead === 0) throw new Error('a file of the draft is shorter than it was')
  piece.used += bytesRead
  return bytesRead
}
