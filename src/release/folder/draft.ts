import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, link, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import { isErrno } from '../../kernel/system-errors.js'
import { type FileEnvelope, FileWriter, type WrittenFile } from '../bytes/file-writer.js'
import { findRecords } from '../bytes/find-records.js'
import { PiecePool } from '../bytes/pieces.js'
import { BlockStart, inOneBatch, type Texts, type TextsOfFiles } from '../bytes/texts.js'
import { Body } from './body.js'
import { Hasher } from './hash-beside.js'
import { joinFiles, type RecordsOfFile } from './join-files.js'
import { type FolderParts, filesOfJoined, type JoinedFile, partsPath, readParts } from './joined-file.js'
import {
  blocksToKeep,
  type EarlierLayers,
  laterPath,
  layerPath,
  layersPath,
  layersText,
  type PlacedBlock,
  readLayers,
  spansOf,
} from './layers.js'
import { makeDirectory, type ReleaseFolder, syncToDisk } from './release-folder.js'
import { toStorageError } from './storage-errors.js'

/** How a file of a draft is written; `twin: false` writes no gzip twin. */
export type WriteOptions = { readonly twin?: boolean; readonly envelope?: FileEnvelope }

/** The envelope of a joined file, and that of each of its parts, where they have one. */
export type JoinOptions = {
  readonly envelope: FileEnvelope
  readonly envelopeOfParts?: FileEnvelope
  /** Throws `release-corrupt` when the records are not what was written. */
  readonly isChecked?: boolean
}

const byPath = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => (one < other ? -1 : 1)

type NewFile = WriteOptions & { readonly path: string }

/** A file that is there only to be a part of joined files; the fingerprint names its content. */
type NewPart = NewFile & { readonly fingerprint: string }

type WritingOfEach<Files> = { readonly [Index in keyof Files]: Writing }

/** A file whose texts were all taken; it is finished while later files are written. */
export type Writing = { readonly written: Promise<WrittenFile> }

// Files that are being synced to disk while later ones are written.
const maxUnsynced = 4

const noEnvelope: FileEnvelope = { head: '', tail: '' }

/**
 * A release being written beside the live one. Nothing in it is visible; leaving its scope without `seal` removes it.
 * Throws `storage-failed` when the disk refuses.
 */
export class Draft implements AsyncDisposable {
  readonly id: string
  readonly #folder: ReleaseFolder
  readonly #root: string
  readonly #directories = new Set<string>()
  readonly #pool = new PiecePool()
  readonly #hasher: Hasher
  readonly #written = new Map<string, Promise<WrittenFile>>()
  /** Each resolves to what went wrong with a file, or undefined. */
  readonly #unsynced: Promise<unknown>[] = []
  /** The same of joined files, for which nothing waits but the end: to join one, others may have to be written. */
  readonly #joining: Promise<unknown>[] = []
  readonly #joined = new Map<string, JoinedFile>()
  readonly #fingerprints = new Map<string, string>()
  readonly #takenOver = new Map<string, Promise<void>>()
  readonly #partsOfReleases = new Map<string, Promise<FolderParts>>()
  /** The blocks of files, and the bytes of each layer. */
  readonly #blocks = new Map<string, readonly PlacedBlock[]>()
  readonly #layers = new Map<string, number>()
  readonly #layersOfReleases = new Map<string, Promise<EarlierLayers>>()
  #sealed = false

  private constructor(folder: ReleaseFolder, id: string, likelyBytes: number) {
    this.id = id
    this.#hasher = new Hasher(likelyBytes)
    this.#folder = folder
    // A unique name: a writer that was cut off but lives cannot write into its successor's draft.
    this.#root = join(folder.drafts, `${id}.${process.pid}.${randomBytes(4).toString('hex')}`)
  }

  /** `likelyBytes`: how many will be joined, as far as one knows. */
  static async begin(folder: ReleaseFolder, id: string, likelyBytes = 0): Promise<Draft> {
    const draft = new Draft(folder, id, likelyBytes)
    await draft.#directory(draft.#root)
    return draft
  }

  /** Writes a file and its gzip twin (docs/adr/0011), hashing on the way. `synced` waits until both are on disk. */
  async write(path: string, texts: Texts, signal: AbortSignal, options: WriteOptions = {}): Promise<Writing> {
    const [writing] = await this.writeTogether([{ path, ...options }], ofOneFile(texts), signal)
    return writing
  }

  /** As `write`, of several files from one source: each batch has the texts of each file. */
  async writeTogether<Files extends readonly NewFile[]>(
    files: readonly [...Files],
    batches: TextsOfFiles,
    signal: AbortSignal,
  ): Promise<WritingOfEach<Files>> {
    return (await this.#writeFiles(files, batches, signal, { hashed: true })) as WritingOfEach<Files>
  }

  /** As `writeTogether`, of parts, which need no hashes: the files that they are joined into have them. */
  async writeParts(parts: readonly NewPart[], batches: TextsOfFiles, signal: AbortSignal): Promise<void> {
    for (const { path, fingerprint } of parts) this.#fingerprints.set(path, fingerprint)
    await this.#writeFiles(parts, batches, signal, { hashed: false })
  }

  /**
   * Makes a file with the records of files of this draft, or of spans of files without twins. It is served from them: no byte is
   * written a second time, and its twin has the compressed records of their twins.
   */
  async join(
    path: string,
    parts: readonly (string | RecordsOfFile)[],
    signal: AbortSignal,
    { envelope, envelopeOfParts = noEnvelope, isChecked = false }: JoinOptions,
  ): Promise<Writing> {
    const written = this.#joinOnceWritten(path, parts, signal, { envelope, envelopeOfParts, isChecked })
    this.#joining.push(this.#follow(path, this.locate(path), written, written))
    return { written }
  }

  async #joinOnceWritten(
    path: string,
    parts: readonly (string | RecordsOfFile)[],
    signal: AbortSignal,
    { envelope, envelopeOfParts, isChecked }: Required<JoinOptions>,
  ): Promise<WrittenFile> {
    const records: RecordsOfFile[] = []
    for (const [index, part] of parts.entries()) {
      refuseAborted(signal, writingFiles)
      if (typeof part !== 'string') records.push(part)
      else records.push(...(await this.#recordsOf(part, envelopeOfParts, `${path}.part-${index + 1}`, signal)))
    }
    const made = await joinFiles(this.#root, records, { envelope, isChecked }, { hasher: this.#hasher, signal })
    this.#joined.set(path, made.joined)
    return made.written
  }

  async #recordsOf(path: string, envelope: FileEnvelope, copy: string, signal: AbortSignal): Promise<RecordsOfFile[]> {
    await this.#written.get(path)
    const blocks = this.#joined.has(path) ? this.#blocks.get(path) : undefined
    if (blocks) return spansOf(blocks)
    const file = this.locate(path)
    const { identity, deflated } = await findRecords(file, envelope)
    if (deflated) return [{ path, identity, deflated }]
    // The twin of an earlier version cannot be cut: the records are copied into a file of their own, compressed anew.
    const [start, end] = identity
    const { written } = await this.write(copy, ofChunks(file, start, end), signal)
    await written
    return await this.#recordsOf(copy, noEnvelope, copy, signal)
  }

  async #writeFiles(
    files: readonly NewFile[],
    batches: TextsOfFiles,
    signal: AbortSignal,
    { hashed }: { readonly hashed: boolean },
  ): Promise<Writing[]> {
    const writers: FileWriter[] = []
    const addTexts = async () => {
      for await (const batch of batches) {
        refuseAborted(signal, writingFiles)
        if (batch instanceof BlockStart) {
          for (const [index, name] of batch.fingerprints.entries()) writers[index]?.beginBlock(name)
        } else for (const [index, texts] of batch.entries()) await writers[index]?.add(texts)
      }
    }
    let target = this.#root
    try {
      for (const { path, twin = true, envelope = noEnvelope } of files) {
        if (this.#unsynced.length >= maxUnsynced) await this.#syncOldest()
        target = await this.#prepare(path)
        writers.push(
          await FileWriter.create(target, { twin, envelope, hashed, pool: this.#pool, together: files.length }),
        )
      }
      await unlessAborted(signal, addTexts())
    } catch (error) {
      for (const writer of writers) await writer.close()
      throw toStorageError(error, target)
    }
    return writers.map((writer, index) => this.#finish(files[index]?.path ?? '', writer))
  }

  #finish(path: string, writer: FileWriter): Writing {
    const written = writer.end().catch(async (error: unknown) => {
      await writer.close()
      throw toStorageError(error, writer.target)
    })
    const noteBlocks = ({ bytes }: WrittenFile) => {
      if (writer.blocks.length === 0) return
      this.#blocks.set(
        path,
        writer.blocks.map((block) => ({ ...block, layer: path })),
      )
      this.#layers.set(path, bytes)
    }
    written.then(noteBlocks, () => undefined)
    const synced = written.then(() => writer.sync())
    this.#unsynced.push(this.#follow(path, writer.target, written, synced))
    return { written }
  }

  /** Resolves to what went wrong with a file, or undefined. */
  #follow(path: string, target: string, written: Promise<WrittenFile>, synced: Promise<unknown>): Promise<unknown> {
    this.#written.set(path, written)
    return synced.then(
      () => undefined,
      (error: unknown) => toStorageError(error, target),
    )
  }

  /** Waits until all bytes of these files can be read. */
  async written(paths: readonly string[]): Promise<void> {
    await Promise.all(paths.map((path) => this.#written.get(path)))
  }

  /** Waits until every file is on disk. */
  async synced(): Promise<void> {
    for (const failure of this.#joining) refuseFailed(await failure)
    while (this.#unsynced.length > 0) await this.#syncOldest()
  }

  async #syncOldest(): Promise<void> {
    refuseFailed(await this.#unsynced.shift())
  }

  /**
   * The blocks of a file of a release, by fingerprint, which this draft may have without writing them; undefined where fewer than
   * half of the wanted ones are there: such a file is better written whole.
   */
  async blocksOf(
    path: string,
    from: string,
    wanted: readonly { readonly fingerprint: string }[],
  ): Promise<ReadonlyMap<string, PlacedBlock> | undefined> {
    const known = blocksToKeep(await this.#layersOf(from), path)
    const blocks = new Map(known.map((block) => [block.fingerprint, block]))
    return wanted.filter(({ fingerprint }) => blocks.has(fingerprint)).length * 2 < wanted.length ? undefined : blocks
  }

  /**
   * Writes blocks into a layer for each name, from which files are joined; the fingerprints of the starts name them. Returns them
   * by fingerprint, for each layer.
   */
  async writeLayers(
    names: readonly string[],
    batches: TextsOfFiles,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, PlacedBlock>[]> {
    const paths = names.map((name) => layerPath(this.id, name))
    const files = paths.map((path) => ({ path }))
    const writings = await this.#writeFiles(files, batches, signal, { hashed: false })
    await Promise.all(writings.map(({ written }) => written))
    return paths.map((path) => {
      const blocks = this.#blocks.get(path) ?? []
      this.#blocks.delete(path)
      return new Map(blocks.map((block) => [block.fingerprint, block]))
    })
  }

  /** Makes a file with these blocks: of layers of this draft, or of a release `from`, of which they are linked. */
  async joinBlocks(
    path: string,
    blocks: readonly PlacedBlock[],
    signal: AbortSignal,
    { envelope, from }: { readonly envelope: FileEnvelope; readonly from?: string | undefined },
  ): Promise<Writing> {
    const paths = new Map<string, string>()
    for (const { layer } of blocks) {
      if (!paths.has(layer)) paths.set(layer, await this.#layer(layer, from))
    }
    const own = blocks.map((block) => ({ ...block, layer: paths.get(block.layer) ?? '' }))
    this.#blocks.set(path, own)
    return await this.join(path, spansOf(own), signal, { envelope, isChecked: true })
  }

  /** The path of a layer in this draft, once it is there. */
  async #layer(layer: string, from: string | undefined): Promise<string> {
    if (from === undefined || layer.startsWith(layerPath(this.id, '/'))) return layer
    const path = laterPath(layer, from)
    this.#layers.set(path, (await this.#layersOf(from)).sizes.get(layer) ?? 0)
    await this.#takeOver(join(this.#folder.releases, from, layer), path)
    return path
  }

  /** Links a file and its twin, once: it may be a part of several files. */
  #takeOver(original: string, path: string): Promise<void> {
    const known = this.#takenOver.get(path) ?? this.#link(original, path)
    this.#takenOver.set(path, known)
    return known
  }

  async #layersOf(release: string): Promise<EarlierLayers> {
    const layers = this.#layersOfReleases.get(release) ?? readLayers(join(this.#folder.releases, release))
    this.#layersOfReleases.set(release, layers)
    return await layers
  }

  /** Takes a file and its twin over from a release unchanged, by hard link where the file system has them. */
  async carry(path: string, from: string): Promise<void> {
    const { joined, fingerprints } = await this.#partsOf(from)
    const same = joined[path]
    const files = same ? filesOfJoined(same) : [path]
    for (const file of files) {
      const fingerprint = fingerprints[file]
      if (fingerprint !== undefined) this.#fingerprints.set(file, fingerprint)
      await this.#takeOver(join(this.#folder.releases, from, file), file)
    }
    if (same) this.#joined.set(path, same)
    const { sizes, files: blocksOf } = await this.#layersOf(from)
    const blocks = blocksOf.get(path)
    if (!blocks) return
    this.#blocks.set(path, blocks)
    for (const { layer } of blocks) this.#layers.set(layer, sizes.get(layer) ?? 0)
  }

  /** As `carry`, of a part of joined files; false when the release has no such part with this fingerprint. */
  async linkPartFrom(path: string, fingerprint: string, from: string): Promise<boolean> {
    const { fingerprints } = await this.#partsOf(from)
    if (fingerprints[path] !== fingerprint) return false
    await this.carry(path, from)
    return true
  }

  async #partsOf(release: string): Promise<FolderParts> {
    const parts = this.#partsOfReleases.get(release) ?? readParts(join(this.#folder.releases, release))
    this.#partsOfReleases.set(release, parts)
    return await parts
  }

  /** Gives a file of this draft, and its twin, a second path. */
  async alias(path: string, second: string): Promise<void> {
    // Without hard links the file is copied, so all of it must be written.
    await this.#written.get(path)
    await this.#link(this.locate(path), second)
  }

  async #link(original: string, path: string): Promise<void> {
    const target = await this.#prepare(path)
    for (const suffix of ['', '.gz']) {
      const source = original + suffix
      try {
        await link(source, target + suffix).catch(async (error: unknown) => {
          if (!isErrno(error, 'EXDEV', 'EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK')) throw error
          await copyFile(source, target + suffix)
          await syncToDisk(target + suffix)
        })
      } catch (error) {
        // Not every file has a twin.
        if (suffix === '.gz' && isErrno(error, 'ENOENT')) continue
        throw toStorageError(error, target)
      }
    }
  }

  /** Syncs the draft and moves it to its final place, complete. */
  async seal(place: 'releases' | 'held'): Promise<void> {
    await this.synced()
    await this.#describeParts()
    try {
      for (const directory of this.#directories) await syncToDisk(directory)
      const target = join(this.#folder[place], this.id)
      // A crash after an earlier seal of the same run left a complete directory: replace it.
      await rm(target, { recursive: true, force: true })
      await rename(this.#root, target)
      await syncToDisk(this.#folder[place])
      this.#sealed = true
    } catch (error) {
      throw toStorageError(error, this.#root)
    }
  }

  async #describeParts(): Promise<void> {
    const { signal } = new AbortController()
    if (this.#blocks.size > 0) {
      const text = layersText({ sizes: this.#layers, files: this.#blocks })
      await this.write(layersPath, inOneBatch(text), signal, { twin: false })
    }
    if (this.#joined.size === 0) return await this.synced()
    const parts: FolderParts = {
      // In one order, whichever file was ready first.
      joined: Object.fromEntries([...this.#joined].sort(byPath)),
      fingerprints: Object.fromEntries([...this.#fingerprints].sort(byPath)),
    }
    await this.write(partsPath, inOneBatch(JSON.stringify(parts)), signal, { twin: false })
    await this.synced()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hasher[Symbol.asyncDispose]()
    await Promise.all([...this.#joining, ...this.#unsynced])
    if (!this.#sealed) await rm(this.#root, { recursive: true, force: true })
  }

  locate(path: string): string {
    return join(this.#root, path)
  }

  async #prepare(path: string): Promise<string> {
    const target = this.locate(path)
    await this.#directory(dirname(target))
    return target
  }

  async #directory(directory: string): Promise<void> {
    if (this.#directories.has(directory)) return
    try {
      await makeDirectory(directory)
    } catch (error) {
      throw toStorageError(error, directory)
    }
    // mkdir may have made parents inside the draft, whose entries must be synced too.
    for (let one = directory; one.startsWith(this.#root); one = dirname(one)) this.#directories.add(one)
  }
}

async function* ofChunks(file: string, start: number, end: number): Texts {
  for await (const chunk of new Body([{ path: file, offset: start, length: end - start }]).chunks()) yield [chunk]
}

async function* ofOneFile(texts: Texts): TextsOfFiles {
  for await (const batch of texts) yield [batch]
}

const writingFiles = 'writing files'

function refuseFailed(failure: unknown): void {
  if (failure !== undefined) throw failure
}

/** Waits for the work, but not after the signal: a store that does not answer would hold it for ever. Throws `aborted`. */
async function unlessAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  const stop = new AbortController()
  const aborted = once(signal, 'abort', { signal: stop.signal }).then(() => refuseAborted(signal, writingFiles))
  aborted.catch(() => undefined)
  work.catch(() => undefined)
  try {
    refuseAborted(signal, writingFiles)
    await Promise.race([work, aborted])
  } finally {
    stop.abort()
  }
}
