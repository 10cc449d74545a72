import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { ServiceError } from '../../kernel/errors.js'

/** A part of a file on disk. */
export type ByteRange = { readonly path: string; readonly offset: number; readonly length: number }

const chunkBytes = 262_144

/** The bytes of a published file: parts of files on disk, and bytes in memory, one after the other. */
export class Body {
  readonly parts: readonly (ByteRange | Buffer)[]
  readonly length: number

  constructor(parts: readonly (ByteRange | Buffer)[]) {
    this.parts = parts
    this.length = parts.reduce((sum, { length }) => sum + length, 0)
  }

  /** The bytes from `start` to before `end`. */
  slice(start: number, end = this.length): Body {
    const parts: (ByteRange | Buffer)[] = []
    let at = 0
    for (const part of this.parts) {
      const [from, to] = [Math.max(start - at, 0), Math.min(end - at, part.length)]
      at += part.length
      if (from >= to) continue
      const isInMemory = part instanceof Uint8Array
      parts.push(isInMemory ? part.subarray(from, to) : { ...part, offset: part.offset + from, length: to - from })
    }
    return new Body(parts)
  }

  /** All bytes in order; parts that are small come together. Throws like `open`, and `release-corrupt` when a file is too short. */
  async *chunks(): AsyncGenerator<Buffer> {
    let [small, bytes]: [(ByteRange | Buffer)[], number] = [[], 0]
    for (const part of this.parts) {
      if (bytes > 0 && bytes + part.length > chunkBytes) {
        yield await new Body(small).bytes()
        ;[small, bytes] = [[], 0]
      }
      if (part.length < chunkBytes) {
        small.push(part)
        bytes += part.length
        continue
      }
      if (part instanceof Uint8Array) {
        yield part
        continue
      }
      const { path, offset, length } = part
      let read = 0
      const options = { start: offset, end: offset + length - 1, highWaterMark: chunkBytes }
      for await (const chunk of createReadStream(path, options) as AsyncIterable<Buffer>) {
        read += chunk.length
        yield chunk
      }
      if (read < length) throw tooShort(path, offset + read, offset + length)
    }
    if (bytes > 0) yield await new Body(small).bytes()
  }

  /** All bytes in memory. Throws as `chunks`. */
  async bytes(): Promise<Buffer> {
    const all = Buffer.allocUnsafe(this.length)
    const files = new Map<string, FileHandle>()
    let at = 0
    try {
      for (const part of this.parts) {
        if (part instanceof Uint8Array) part.copy(all, at)
        else {
          const file = files.get(part.path) ?? (await open(part.path))
          files.set(part.path, file)
          await readRange(file, part, all, at)
        }
        at += part.length
      }
    } finally {
      await Promise.all([...files.values()].map((file) => file.close()))
    }
    return all
  }

  /** All bytes as UTF-8. Throws as `chunks`. */
  async text(): Promise<string> {
    return (await this.bytes()).toString('utf8')
  }
}

async function readRange(
  file: FileHandle,
  { path, offset, length }: ByteRange,
  into: Buffer,
  at: number,
): Promise<void> {
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(into, at + done, length - done, offset + done)
    if (bytesRead === 0) throw tooShort(path, offset + done, offset + length)
    done += bytesRead
  }
}

/** The error for a file that ends before its last published byte. */
export function tooShort(path: string, bytes: number, expected: number): ServiceError {
  return new ServiceError('release-corrupt', `${path} has ${bytes} bytes, expected at least ${expected}`)
}
