import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { copyFile, link, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { isErrno, makeDirectory, type ReleaseFolder, syncDirectory, toStorageError } from './release-folder.js'

/** What was written: identity size and hash, size of the gzip twin. */
export type WrittenFile = {
  readonly bytes: number
  readonly gzipBytes: number
  readonly sha256: string
  readonly contentSha256?: string
}

/**
 * `twin: false` writes no gzip twin. `stamp` is text in the file's first characters that `contentSha256` leaves out: the
 * time at which it was generated.
 */
export type WriteOptions = { readonly twin?: boolean; readonly stamp?: string }

/**
 * Chunks smaller than this are gathered before they are hashed, compressed and written; what is compressed comes in
 * pieces of it, for each is a step of its own between threads.
 */
const gatherBytes = 256 * 1024

/**
 * A release being written beside the live one. Nothing in it is visible; leaving its scope without `seal` removes it.
 * Throws `storage-failed` when the disk refuses.
 */
export class Draft implements AsyncDisposable {
  readonly id: string
  readonly #folder: ReleaseFolder
  readonly #path: string
  readonly #directories = new Set<string>()
  #sealed = false

  private constructor(folder: ReleaseFolder, id: string) {
    this.id = id
    this.#folder = folder
    // A name of its own: a writer that was cut off, but lives, cannot write into its successor's draft.
    this.#path = path.join(folder.drafts, `${id}.${process.pid}.${randomBytes(4).toString('hex')}`)
  }

  /** Begins an empty draft. */
  static async begin(folder: ReleaseFolder, id: string): Promise<Draft> {
    const draft = new Draft(folder, id)
    await draft.#directory(draft.#path)
    return draft
  }

  /**
   * Writes a file and its gzip twin (level 1, one member: multi-member gzip breaks clients) from a stream of bytes,
   * hashing on the way; both are synced to the disk.
   */
  async write(
    address: string,
    chunks: AsyncIterable<Buffer>,
    signal: AbortSignal,
    { twin: withTwin = true, stamp }: WriteOptions = {},
  ): Promise<WrittenFile> {
    const target = await this.#prepare(address)
    try {
      const hash = createHash('sha256')
      const content = stamp === undefined ? undefined : createHash('sha256')
      let bytes = 0
      const identity = createWriteStream(target, { flags: 'wx', flush: true })
      const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: gatherBytes })
      let gzipBytes = 0
      const twin = withTwin
        ? pipeline(
            gzip,
            async function* (compressed: AsyncIterable<Buffer>) {
              for await (const chunk of compressed) {
                gzipBytes += chunk.length
                yield chunk
              }
            },
            createWriteStream(`${target}.gz`, { flags: 'wx', flush: true }),
            { signal },
          )
        : undefined
      const main = pipeline(
        gather(chunks),
        async function* (gathered: AsyncIterable<Buffer>) {
          for await (const chunk of gathered) {
            hash.update(chunk)
            content?.update(bytes === 0 ? without(chunk, stamp) : chunk)
            bytes += chunk.length
            if (twin && !gzip.write(chunk)) await Promise.race([once(gzip, 'drain'), twin])
            yield chunk
          }
          gzip.end()
        },
        identity,
        { signal },
      ).catch((error: unknown) => {
        gzip.destroy()
        throw error
      })
      await Promise.all([main, twin])
      const sha256 = hash.digest('hex')
      return { bytes, gzipBytes, sha256, ...(content && { contentSha256: content.digest('hex') }) }
    } catch (error) {
      throw toStorageError(error, target)
    }
  }

  /** Takes a file and its twin over from a release unchanged: a hard link where the file system has them. */
  async carry(address: string, from: string): Promise<void> {
    await this.#link(path.join(this.#folder.releases, from, address), address)
  }

  /** Gives a file of this draft, and its twin, a second address. */
  async alias(address: string, second: string): Promise<void> {
    await this.#link(this.locate(address), second)
  }

  async #link(original: string, address: string): Promise<void> {
    const target = await this.#prepare(address)
    for (const suffix of ['', '.gz']) {
      const source = original + suffix
      try {
        await link(source, target + suffix).catch(async (error: unknown) => {
          if (suffix === '.gz' && isErrno(error, 'ENOENT')) return
          if (!isErrno(error, 'EXDEV', 'EPERM', 'ENOTSUP', 'EMLINK')) throw error
          await copyFile(source, target + suffix)
          await syncFile(target + suffix)
        })
      } catch (error) {
        throw toStorageError(error, target)
      }
    }
  }

  /** Syncs every directory of the draft and moves it to its final place, ready to be made live. */
  async seal(place: 'releases' | 'held'): Promise<void> {
    try {
      for (const directory of this.#directories) await syncDirectory(directory)
      const target = path.join(this.#folder[place], this.id)
      // A crash after an earlier seal of the same run left a complete directory; this one replaces it.
      await rm(target, { recursive: true, force: true })
      await rename(this.#path, target)
      await syncDirectory(this.#folder[place])
      this.#sealed = true
    } catch (error) {
      throw toStorageError(error, this.#path)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#sealed) await rm(this.#path, { recursive: true, force: true })
  }

  /** Where the file at an address of the draft is. */
  locate(address: string): string {
    return path.join(this.#path, address)
  }

  async #prepare(address: string): Promise<string> {
    const target = this.locate(address)
    await this.#directory(path.dirname(target))
    return target
  }

  async #directory(directory: string): Promise<void> {
    if (this.#directories.has(directory)) return
    try {
      await makeDirectory(directory)
    } catch (error) {
      throw toStorageError(error, directory)
    }
    // mkdir may have made parents inside the draft, whose entries need syncing too.
    for (let one = directory; one.startsWith(this.#path); one = path.dirname(one)) this.#directories.add(one)
  }
}

function without(chunk: Buffer, stamp = ''): Buffer {
  const at = stamp === '' ? -1 : chunk.indexOf(stamp)
  return at < 0 ? chunk : Buffer.concat([chunk.subarray(0, at), chunk.subarray(at + Buffer.byteLength(stamp))])
}

async function* gather(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    waiting.push(chunk)
    size += chunk.length
    if (size < gatherBytes) continue
    yield waiting.length === 1 ? chunk : Buffer.concat(waiting, size)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting, size)
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
