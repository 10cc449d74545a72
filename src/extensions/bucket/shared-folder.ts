import { createHash, hash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Clock, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { ifThere, isErrno } from '../../kernel/system-errors.js'
import { Body } from '../../release/folder/body.js'
import {
  isReleaseId,
  listReleaseIds,
  liveReleaseId,
  prepareFolder,
  type ReleaseFolder,
  removeLiveLink,
  runOfRelease,
  switchLiveRelease,
  syncToDisk,
} from '../../release/folder/release-folder.js'
import { toStorageError } from '../../release/folder/storage-errors.js'
import type { SharedFolder } from '../../release/publication.js'
import { isReleaseThere } from '../../release/read/release-reader.js'
import type { Bucket } from './bucket.js'
import { inParallel } from './in-parallel.js'

/** Objects of the shared folder; nobody but our processes may read them, since held releases are among them. */
export const sharedPrefix = 'store/'

/** Where the object is that says what a folder has. */
function stateKey(name: string): string {
  return `${sharedPrefix}${name}.json`
}

/** The list of a release's files, as an object of the bucket. */
type ListRef = { readonly key: string; readonly sha256: string }

/** What the bucket says of a folder; replaced in one conditional write. */
type State = {
  readonly live?: string
  readonly releases: Readonly<Record<string, ListRef>>
  readonly held: Readonly<Record<string, ListRef>>
  /** The text of `checked.json`. */
  readonly checked?: string
}

/** A file of a release on disk, and the object that has its bytes. */
type KeptFile = { readonly path: string; readonly key: string; readonly bytes: number; readonly sha256: string }

type Place = 'releases' | 'held'
const places = ['releases', 'held'] as const

type Known = { readonly state: State; readonly mark: string }

export type SharedFolderOptions = {
  readonly folder: ReleaseFolder
  /** Which folder of the service it is. */
  readonly name: string
  readonly bucket: () => Promise<Bucket>
  readonly clock: Clock
  /** Called before the first state is written; throws where the store did not publish into this folder. */
  readonly begin: () => Promise<void>
}

// Copies that a process left behind when it was killed, and objects that were sent and never named, are as old at least.
const abandonedMs = 3_600_000
const orphanedMs = 7 * 24 * 3_600_000

/**
 * A folder of releases of which each machine has a copy; the state in the bucket says what it holds
 * (docs/adr/0029-the-bucket-as-the-folder.md). Objects never change and are named once; the state, which names them, is
 * replaced by one conditional write. So a reader of the state finds whole releases, and of two writers one is refused.
 * Throws `bucket-unavailable`, `storage-failed`.
 */
export function createSharedFolder(options: SharedFolderOptions): SharedFolder {
  const { folder, name, clock, begin } = options
  const lists = path.join(folder.root, 'lists')
  /** What this process last brought, or said. */
  let known: Known | undefined
  /** Whether `pull` has brought what `push` changes. */
  let isPulled = false

  const read = async (): Promise<Known | undefined> => {
    const found = await (await options.bucket()).get(stateKey(name))
    return found && { state: JSON.parse(found.body.toString('utf8')) as State, mark: found.mark }
  }

  const bring = async (exclusive: boolean): Promise<void> => {
    for (let stored = await read(); ; ) {
      const isNew = stored && (stored.mark !== known?.mark || (await liveReleaseId(folder)) !== stored.state.live)
      if (stored && (isNew || exclusive)) await bringState(stored.state, exclusive)
      // Bringing takes time, in which another release may have gone live.
      const now = isNew ? await read() : stored
      known = stored
      if (stored) await noteFollowed()
      if (now?.mark === stored?.mark) return
      stored = now
    }
  }

  const bringState = async (state: State, exclusive: boolean): Promise<void> => {
    const { live, releases, held, checked } = state
    const ensure = (place: Place, id: string) => bringRelease(place, id, state)
    await prepareFolder(folder)
    const newestFirst = (of: object) => Object.keys(of).sort((a, b) => runOfRelease(b) - runOfRelease(a))
    if (live !== undefined) {
      // First, so that an empty folder serves it soon.
      await ensure('releases', live)
      if ((await liveReleaseId(folder)) !== live) await switchLiveRelease(folder, live)
    } else if ((await liveReleaseId(folder)) !== undefined) {
      await removeLiveLink(folder)
    }
    if (checked !== undefined && (await ifThere(readFile(folder.checked, 'utf8'))) !== checked) {
      await replaceFile(folder.checked, checked)
    }
    for (const id of newestFirst(releases)) await ensure('releases', id)
    for (const id of newestFirst(held)) await ensure('held', id)
    const newest = Math.max(0, ...[...Object.keys(releases), ...Object.keys(held)].map(runOfRelease))
    const wanted = { releases, held }
    for (const place of places) {
      for (const id of await listReleaseIds(folder[place])) {
        const isApproved = place === 'held' && id in releases
        // Another process with this folder may be about to write a state with a newer release, or with one that it approves.
        if (id in wanted[place] || (!exclusive && !isApproved && runOfRelease(id) >= newest)) continue
        await rm(path.join(folder[place], id), { recursive: true, force: true })
      }
    }
    await removeOldCopies()
    for (const file of (await ifThere(readdir(lists))) ?? []) {
      const id = path.basename(file, '.json')
      const isSaid = id in releases || id in held
      if (!isSaid && (exclusive || runOfRelease(id) < newest)) await rm(path.join(lists, file), { force: true })
    }
  }

  /** The list of a release that this folder has; undefined where it has another one, or none. */
  const ownList = async (id: string, ref: ListRef): Promise<readonly KeptFile[] | undefined> => {
    const here = await ifThere(readFile(path.join(lists, `${id}.json`)))
    const isSame = here !== undefined && hash('sha256', here) === ref.sha256
    return isSame ? (JSON.parse(here.toString('utf8')) as KeptFile[]) : undefined
  }

  /** The list of a release, from this folder or the bucket. */
  const listOf = async (id: string, ref: ListRef): Promise<readonly KeptFile[]> => {
    const here = await ownList(id, ref)
    if (here) return here
    const found = await (await options.bucket()).get(ref.key)
    if (!found || hash('sha256', found.body) !== ref.sha256) throw damaged(ref.key)
    return JSON.parse(found.body.toString('utf8')) as KeptFile[]
  }

  /** Makes the folder have this release, whole, with the bytes that its list names. */
  const bringRelease = async (place: Place, id: string, state: State): Promise<void> => {
    const ref = state[place][id]
    if (!ref || !isReleaseId(id)) throw damaged(stateKey(name))
    const target = path.join(folder[place], id)
    const isListed = async () => (await isReleaseThere(target)) && (await ownList(id, ref)) !== undefined
    if (await isListed()) return
    const list = await listOf(id, ref)
    const copy = path.join(folder.root, 'copies', `${id}.${randomUUID()}`)
    try {
      await mkdir(copy, { recursive: true })
      const here = await filesHere(state)
      await inParallel(list, async (file) => {
        const to = path.join(copy, file.path)
        await mkdir(path.dirname(to), { recursive: true })
        const same = here.get(file.key)
        if (same === undefined || !(await linkOrCopy(same, to))) await download(file, to)
      })
      for (const directory of await directoriesIn(copy)) await syncToDisk(directory)
      await mkdir(lists, { recursive: true })
      if (await isListed()) return
      // What an interrupted run of another machine left here under this name.
      await rm(target, { recursive: true, force: true })
      await replaceFile(path.join(lists, `${id}.json`), JSON.stringify(list))
      await rename(copy, target)
      await syncToDisk(folder[place])
    } catch (error) {
      // Another process with this folder was faster.
      if (isErrno(error, 'ENOTEMPTY', 'EEXIST') && (await isListed())) return
      throw toStorageError(error, copy)
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  }

  /** Files of this folder by the object that has the same bytes. */
  const filesHere = async (state: State): Promise<Map<string, string>> => {
    const here = new Map<string, string>()
    for (const [id, ref] of [...allRefs(known?.state ?? state), ...allRefs(state)]) {
      const list = await ownList(id, ref)
      for (const place of places) {
        if (!list || !(await isReleaseThere(path.join(folder[place], id)))) continue
        for (const { key, path: name } of list) here.set(key, path.join(folder[place], id, name))
      }
    }
    return here
  }

  const download = async ({ key, bytes, sha256 }: KeptFile, to: string): Promise<void> => {
    await (await options.bucket()).download(key, bytes, async (chunks) => {
      const digest = createHash('sha256')
      const hashed = async function* () {
        for await (const chunk of chunks) {
          digest.update(chunk)
          yield chunk
        }
      }
      try {
        await pipeline(hashed, createWriteStream(to, { flush: true }))
      } catch (error) {
        throw toStorageError(error, to)
      }
      if (digest.digest('hex') !== sha256) throw damaged(key)
    })
  }

  const removeOldCopies = async (): Promise<void> => {
    const copies = path.join(folder.root, 'copies')
    for (const one of (await ifThere(readdir(copies))) ?? []) {
      const found = await ifThere(stat(path.join(copies, one)))
      if (found && Date.now() - found.mtimeMs > abandonedMs) {
        await rm(path.join(copies, one), { recursive: true, force: true })
      }
    }
  }

  const noteFollowed = async (): Promise<void> => {
    await replaceFile(folder.followed, `${JSON.stringify({ at: isoInstantOf(clock()) })}\n`)
  }

  /** Sends the files of a release that no object has yet, then their list. */
  const send = async (place: Place, id: string, before: State): Promise<ListRef> => {
    const bucket = await options.bucket()
    const root = path.join(folder[place], id)
    const at = `${sharedPrefix}${name}/${isoInstantOf(clock()).slice(0, 10)}-${id}-${randomUUID()}`
    const kept = await keptFiles(before)
    const files = (await filesIn(root)).sort()
    const list: KeptFile[] = []
    await inParallel(files, async (file) => {
      const place = path.join(root, file)
      const { ino, size } = await stat(place)
      const same = kept.byInode.get(ino)
      const sha256 = same?.bytes === size ? same.sha256 : await hashOf(place)
      const object = kept.bySha256.get(sha256)
      const key = object?.key ?? `${at}/${file}`
      if (!object) {
        const body = new Body([{ path: place, offset: 0, length: size }])
        await bucket.put({ key, body, mediaType: 'application/octet-stream', sha256, lifetime: 'immutable' })
      }
      list.push({ path: file, key, bytes: size, sha256 })
    })
    list.sort((a, b) => (a.path < b.path ? -1 : 1))
    const body = Buffer.from(JSON.stringify(list))
    const ref = { key: `${at}/list.json`, sha256: hash('sha256', body) }
    await bucket.put({ ...ref, body, mediaType: 'application/json', lifetime: 'immutable' })
    await mkdir(lists, { recursive: true })
    await replaceFile(path.join(lists, `${id}.json`), body)
    return ref
  }

  /** What the objects of a state have, by their content and by the files of this folder that have it. */
  const keptFiles = async (state: State) => {
    const byInode = new Map<number, KeptFile>()
    const bySha256 = new Map<string, KeptFile>()
    for (const place of places) {
      for (const [id, ref] of Object.entries(state[place])) {
        for (const file of await listOf(id, ref)) {
          bySha256.set(file.sha256, file)
          const here = await ifThere(stat(path.join(folder[place], id, file.path)))
          if (here && here.nlink > 1) byInode.set(here.ino, file)
        }
      }
    }
    return { byInode, bySha256 }
  }

  const refsOf = async (place: Place, before: State): Promise<Record<string, ListRef>> => {
    const refs: Record<string, ListRef> = {}
    for (const id of await listReleaseIds(folder[place])) {
      // One that was removed while it was brought, or whose removal was interrupted.
      if (!(await isReleaseThere(path.join(folder[place], id)))) continue
      const other = place === 'releases' ? before.held[id] : undefined
      const ref = before[place][id] ?? other
      refs[id] = ref && (await ownList(id, ref)) ? ref : await send(place, id, before)
    }
    return refs
  }

  const push = async (live?: string | null): Promise<void> => {
    if (!isPulled) throw new Error(`${name} was not pulled`)
    const before = known?.state ?? { releases: {}, held: {} }
    if (!known) await begin()
    const named = live === undefined ? await liveReleaseId(folder) : (live ?? undefined)
    const checked = await ifThere(readFile(folder.checked, 'utf8'))
    const state: State = {
      ...(named !== undefined && { live: named }),
      releases: await refsOf('releases', before),
      held: await refsOf('held', before),
      ...(checked !== undefined && live !== null && { checked }),
    }
    if (known && JSON.stringify(state) === JSON.stringify(before)) return
    const isEmpty = named === undefined && [state.releases, state.held].every((of) => Object.keys(of).length === 0)
    if (!known && isEmpty) return
    const bucket = await options.bucket()
    const body = Buffer.from(`${JSON.stringify(state)}\n`)
    const sha256 = hash('sha256', body)
    const object = { key: stateKey(name), body, mediaType: 'application/json', sha256, lifetime: 'live' } as const
    const mark = (await bucket.putIf(object, known?.mark)) ?? (await ownMark(body))
    if (mark === undefined) {
      isPulled = false
      throw new ServiceError('server-busy', 'another process has published meanwhile: this one begins again')
    }
    known = { state, mark }
    await removeUnnamed(before, state)
  }

  /** A write that was repeated, since its answer was lost, finds its own state. */
  const ownMark = async (body: Buffer): Promise<string | undefined> => {
    const found = await (await options.bucket()).get(stateKey(name))
    return found?.body.equals(body) ? found.mark : undefined
  }

  /**
   * Removes the objects that the state before named and this one does not. No later state can name them: it follows this one, and
   * what it sends has names of its own.
   */
  const removeUnnamed = async (before: State, after: State): Promise<void> => {
    const bucket = await options.bucket()
    const named = new Set<string>()
    for (const [id, ref] of allRefs(after)) {
      named.add(ref.key)
      for (const { key } of await listOf(id, ref)) named.add(key)
    }
    const unnamed = new Set<string>()
    for (const [id, ref] of allRefs(before)) {
      if (named.has(ref.key)) continue
      unnamed.add(ref.key)
      for (const { key } of await listOf(id, ref)) if (!named.has(key)) unnamed.add(key)
    }
    // What was begun long ago and never named, by a process that died.
    const lastWeek = isoInstantOf(new Date(clock().getTime() - orphanedMs)).slice(0, 10)
    if (unnamed.size > 0) {
      for await (const one of bucket.folders(`${sharedPrefix}${name}/`)) {
        if (one.slice(0, 10) >= lastWeek) continue
        for await (const key of bucket.keys(`${sharedPrefix}${name}/${one}/`)) if (!named.has(key)) unnamed.add(key)
      }
    }
    await inParallel(unnamed, (key) => bucket.remove(key))
  }

  return {
    follow: () => bring(false),
    pull: async () => {
      await bring(true)
      isPulled = true
    },
    push,
  }
}

/**
 * Shares between machines what each has seen of the database. `exchange` takes the text of the bucket and returns a newer one. Of
 * two machines that write at once, one is refused and writes at its next turn. Throws `bucket-unavailable`.
 */
export async function shareSeen(bucket: Bucket, exchange: (others: string | undefined) => string | undefined) {
  const key = stateKey('database-seen')
  const found = await bucket.get(key)
  const newer = exchange(found?.body.toString('utf8'))
  if (newer === undefined) return
  const body = Buffer.from(newer)
  const sha256 = hash('sha256', body)
  await bucket.putIf({ key, body, mediaType: 'application/json', sha256, lifetime: 'live' }, found?.mark)
}

function allRefs({ releases, held }: State): [id: string, ref: ListRef][] {
  return [...Object.entries(releases), ...Object.entries(held)]
}

function damaged(key: string): ServiceError {
  return new ServiceError('bucket-unavailable', `the object ${key} of the bucket is not what was sent`)
}

async function hashOf(file: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(file), digest)
  return digest.digest('hex')
}

/** Paths of all files below a directory, relative to it. */
async function filesIn(root: string): Promise<string[]> {
  const found = await readdir(root, { recursive: true, withFileTypes: true })
  return found.filter((one) => one.isFile()).map((one) => path.relative(root, path.join(one.parentPath, one.name)))
}

async function directoriesIn(root: string): Promise<string[]> {
  const found = await readdir(root, { recursive: true, withFileTypes: true })
  return [...found.filter((one) => one.isDirectory()).map((one) => path.join(one.parentPath, one.name)), root]
}

/** False when the file is gone meanwhile. */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    if (!isErrno(error, 'EXDEV', 'EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK')) throw error
  }
  await copyFile(from, to)
  await syncToDisk(to)
  return true
}

async function replaceFile(file: string, text: string | Buffer): Promise<void> {
  const draft = `${file}.${process.pid}.${randomUUID().slice(0, 8)}`
  try {
    await writeFile(draft, text)
    await rename(draft, file)
  } catch (error) {
    throw toStorageError(error, file)
  }
}
