import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { WrittenBlock } from './blocks.js'
import { joinedCrc } from './crc.js'
import { deflated } from './deflated.js'
import { endOfTwin, startOfTwin } from './gzip.js'
import { type Piece, type PiecePool, pieceBytes } from './pieces.js'

/** What was written: identity size and hash, size of the gzip twin, 0 where there is none. */
export type WrittenFile = {
  readonly bytes: number
  readonly gzipBytes: number
  readonly sha256: string
  readonly contentSha256?: string
}

/** The text before and after the records of a file. `contentSha256` leaves out `stamp`, a part of `head`. */
export type FileEnvelope = { readonly head: string; readonly tail: string; readonly stamp?: string }

// Pieces that are being compressed and written while the next one is filled: enough for two cores, shared by the files that are
// written together.
const maxSent = 4

/** `together`: how many files are written at the same time; they share the pieces, so that memory grows less. */
type WriterOptions = {
  readonly pool: PiecePool
  readonly envelope: FileEnvelope
  /** Without: `sha256` is empty. */
  readonly hashed: boolean
  readonly together?: number
}

/** A block that texts are added to, or that is being compressed. */
type OpenBlock = { readonly fingerprint: string; readonly at: number; bytes: number; bytesInTwin: number; crc: number }

/**
 * Writes a file and its gzip twin in pieces: hashed in order, compressed and written in parallel (docs/adr/0011). The twin
 * stores the envelope uncompressed, so that its records can be part of another twin. Pieces are cut by content alone: the same
 * content in the same blocks gives the same bytes.
 */
export class FileWriter {
  readonly target: string
  readonly #identity: FileHandle
  readonly #twin: FileHandle | undefined
  readonly #pool: PiecePool
  readonly #envelope: FileEnvelope
  readonly #hash: ReturnType<typeof createHash> | undefined
  readonly #contentHash: ReturnType<typeof createHash> | undefined
  readonly #sent: Promise<void>[] = []
  readonly #maxSent: number
  readonly #blocks: OpenBlock[] = []
  #block: OpenBlock | undefined
  #piece: Piece | undefined
  /** Where in the piece the texts begin that are not being compressed. */
  #from = 0
  /** Of the piece, what is being compressed. */
  #parts: Promise<void>[] = []
  #bytes = 0
  #gzipBytes = 0
  #crc = 0
  #twinWritten: Promise<void> = Promise.resolve()
  /** Of the twin, what is not written yet: each write takes a turn of another thread. */
  #deflated: Buffer[] = []

  private constructor(
    target: string,
    { identity, twin }: { readonly identity: FileHandle; readonly twin: FileHandle | undefined },
    { pool, envelope, hashed, together = 1 }: WriterOptions,
  ) {
    this.#maxSent = Math.max(1, Math.floor(maxSent / together))
    this.target = target
    this.#identity = identity
    this.#twin = twin
    this.#pool = pool
    this.#envelope = envelope
    if (hashed) this.#hash = createHash('sha256')
    if (hashed && envelope.stamp !== undefined) this.#contentHash = createHash('sha256')
  }

  /** Begins a new file and, if `twin`, its gzip twin beside it. */
  static async create(target: string, options: WriterOptions & { readonly twin: boolean }): Promise<FileWriter> {
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

  /** Texts that are added from now on are a block of this name, compressed for itself; undefined: none is added until the next. */
  beginBlock(fingerprint: string | undefined): void {
    this.#endBlock()
    if (fingerprint === undefined) return
    this.#block = { fingerprint, at: this.#bytes + (this.#piece?.used ?? 0), bytes: 0, bytesInTwin: 0, crc: 0 }
    this.#blocks.push(this.#block)
  }

  /** The blocks that were written, once the file has ended. */
  get blocks(): WrittenBlock[] {
    let atInTwin = startOfTwin(this.#envelope.head).length
    return this.#blocks.map((block) => {
      const placed = { ...block, atInTwin }
      atInTwin += block.bytesInTwin
      return placed
    })
  }

  #endBlock(): void {
    this.#endPart()
    if (this.#block) this.#crc = joinedCrc([{ crc: this.#crc, bytes: 0 }, this.#block])
    this.#block = undefined
  }

  /** Appends the texts, which may be overwritten once it has resolved. */
  async add(texts: readonly Buffer[]): Promise<void> {
    for (const text of texts) {
      for (let from = 0; from < text.length; ) {
        const piece = this.#piece ?? (await this.#take())
        const copied = text.copy(piece.bytes, piece.used, from)
        from += copied
        piece.used += copied
        if (piece.used < piece.bytes.length) continue
        if (this.#from === 0) this.#send()
        else await this.#moveOn(piece)
      }
    }
  }

  /** Ends the file; nothing is synced to disk yet. */
  async end(): Promise<WrittenFile> {
    const { tail } = this.#envelope
    this.#endBlock()
    this.#send()
    await Promise.all(this.#sent)
    this.#sum(Buffer.from(tail))
    await this.#writeIdentity(Buffer.from(tail))
    await this.#writeTwin(Promise.resolve(endOfTwin(tail, this.#crc, this.#bytes)))
    await this.#flushTwin()
    const contentSha256 = this.#contentHash?.digest('hex')
    return {
      bytes: this.#bytes,
      gzipBytes: this.#gzipBytes,
      sha256: this.#hash?.digest('hex') ?? '',
      ...(contentSha256 !== undefined && { contentSha256 }),
    }
  }

  /** Syncs the file and its twin to disk and closes them. */
  async sync(): Promise<void> {
    try {
      await Promise.all([this.#identity.sync(), this.#twin?.sync()])
    } finally {
      await this.close()
    }
  }

  /** Closes the files once all writes have ended. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#sent, ...this.#parts])
    await Promise.all([this.#identity.close(), this.#twin?.close()])
  }

  #begin(): void {
    const { head, stamp } = this.#envelope
    const content = stamp === undefined ? head : head.replace(stamp, '')
    this.#sum(Buffer.from(head))
    this.#track(this.#writeIdentity(Buffer.from(head), Buffer.from(content)))
    this.#track(this.#writeTwin(Promise.resolve(startOfTwin(head))))
  }

  async #take(): Promise<Piece> {
    if (this.#sent.length >= this.#maxSent) await this.#sent.shift()
    this.#piece = this.#pool.take()
    return this.#piece
  }

  /** Begins another piece with what the full one has of an open block, so that no cut depends on what was before a block. */
  async #moveOn(full: Piece): Promise<void> {
    const from = this.#from
    const next = await this.#take()
    next.used = full.bytes.copy(next.bytes, 0, from)
    full.used = from
    this.#piece = full
    this.#send()
    this.#piece = next
  }

  /** Compresses what the piece has of a block, or between blocks. */
  #endPart(): void {
    const part = this.#piece?.content.subarray(this.#from)
    if (!part?.length) return
    this.#sum(part)
    this.#from += part.length
    if (!this.#twin) return
    const compressed = this.#writeTwin(deflatedIn(this.#block, part))
    compressed.catch(() => undefined)
    this.#parts.push(compressed)
  }

  /** Blocks share a piece, since each write takes a turn of another thread. */
  #send(): void {
    this.#endPart()
    const [piece, parts] = [this.#piece, this.#parts]
    this.#piece = undefined
    this.#from = 0
    this.#parts = []
    if (piece)
      this.#track(Promise.all([this.#writeIdentity(piece.content), ...parts]).then(() => this.#pool.give(piece)))
  }

  /** Lets the work run beside the next; rejections surface when it is awaited. */
  #track(work: Promise<void>): void {
    work.catch(() => undefined)
    this.#sent.push(work)
  }

  #writeIdentity(bytes: Buffer, content = bytes): Promise<void> {
    const position = this.#bytes
    this.#bytes += bytes.length
    this.#hash?.update(bytes)
    this.#contentHash?.update(content)
    return writeAll(this.#identity, bytes, position)
  }

  #sum(bytes: Buffer): void {
    const block = this.#block
    if (block) {
      block.bytes += bytes.length
      block.crc = crc32(bytes, block.crc)
    } else if (this.#twin) this.#crc = crc32(bytes, this.#crc)
  }

  /** Appends to the twin, in the order of the calls. */
  #writeTwin(bytes: Promise<Buffer>): Promise<void> {
    if (!this.#twin) return Promise.resolve()
    const before = this.#twinWritten
    this.#twinWritten = Promise.all([bytes, before]).then(async ([ready]) => {
      this.#deflated.push(ready)
      if (this.#deflated.reduce((sum, { length }) => sum + length, 0) >= pieceBytes) await this.#flushTwin()
    })
    return this.#twinWritten
  }

  async #flushTwin(): Promise<void> {
    const bytes = Buffer.concat(this.#deflated)
    this.#deflated = []
    const position = this.#gzipBytes
    this.#gzipBytes += bytes.length
    if (this.#twin) await writeAll(this.#twin, bytes, position)
  }
}

async function deflatedIn(block: OpenBlock | undefined, part: Buffer): Promise<Buffer> {
  const bytes = await deflated(part)
  if (block) block.bytesInTwin += bytes.length
  return bytes
}

/** A write may be partial, as on a disk that is nearly full; the next one then fails with the reason. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten
  }
}
