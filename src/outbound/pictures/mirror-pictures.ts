import { hash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { isoInstantOf } from '../../kernel/dates.js'
import type { ConfigOf } from '../../platform/config/config.js'
import { takeLock } from '../../platform/database/locks.js'
import { writeWhole } from '../../platform/files/whole-file.js'
import type { Log } from '../../platform/observability/log.js'
import { HttpClient, reasonOf } from '../../platform/outgoing/http-client.js'
import { makeDirectory, releaseFolder } from '../../release/folder/release-folder.js'
import type { FolderDeps } from '../../release/publication.js'
import {
  type ListedPicture,
  type PictureList,
  pictureListName,
  readPictureList,
} from '../../release/read/mirrored-pictures.js'
import { createReleaseReader, type ReadableRelease } from '../../release/read/release-reader.js'
import { fetchPicture } from './fetch-picture.js'
import { picturesOf } from './list-pictures.js'

export type PictureMirror = FolderDeps & {
  readonly log: Pick<Log, 'info'>
  /** Of this service, which serves its own pictures. */
  readonly baseUrl: string
  readonly config: ConfigOf<'upstream' | 'allowPrivateNetworks'>
}

// Some 800 MB of files; what is beyond keeps the tile of its theme.
const mostPictures = 20_000
const mostKeptBytes = 1_073_741_824
const mostInRun = 200
const atOnce = 4
// The next minute goes on: other work waits for the same workers.
const longestMs = 40_000
const firstWaitMs = 3_600_000
const longestWaitMs = 7 * 86_400_000

/**
 * Fetches some of the pictures of other hosts that pages of the live release show and the mirror lacks, each once. One that
 * cannot be fetched is tried again after an hour, and later after up to a week. Pictures that no page shows are removed.
 */
export async function mirrorPictures(mirror: PictureMirror, signal: AbortSignal): Promise<string> {
  const { store, feedsDir, clock, log } = mirror
  const folder = releaseFolder(feedsDir).pictures
  const live = await createReleaseReader(feedsDir).live()
  if (!live) return 'nothing published yet'
  await using lock = await takeLock(store.db, 'pictures')
  if (!lock) return 'another process fetches'
  const known = await readPictureList(folder)
  const { pictures } = known?.release === live.id ? known : await listAnew(mirror, live, known, signal)
  const now = isoInstantOf(clock())
  const due = pictures.filter(({ file, nextAt = '' }) => file === undefined && nextAt <= now).slice(0, mostInRun)
  if (due.length === 0) return 'nothing to fetch'
  const asked = new Map<string, ListedPicture>()
  const until = performance.now() + longestMs
  const kept = new Set(pictures.flatMap(({ file }) => file ?? []))
  let keptBytes = pictures.reduce((sum, { bytes = 0 }) => sum + bytes, 0)
  const { upstream, allowPrivateNetworks } = mirror.config
  const trustedOrigin = upstream ? new URL(upstream.url).origin : ''
  const guard = { trustedOrigin, allowPrivateNetworks, hosts: upstream?.hosts }
  await using client = new HttpClient({ connectMs: 5_000, idleMs: 10_000, connections: 2, guard })
  const queue = due.values()
  const fetchDue = async () => {
    for (const picture of queue) {
      if (signal.aborted || performance.now() > until || keptBytes > mostKeptBytes) return
      const bytes = await fetchPicture(client, picture.url, signal).catch((error: unknown) => {
        if (!signal.aborted) asked.set(picture.url, afterFailure(mirror, picture, reasonOf(error)))
      })
      if (!bytes) continue
      const file = `${hash('sha256', bytes)}.webp`
      // Many addresses lead to the same picture.
      if (!kept.has(file)) {
        kept.add(file)
        keptBytes += bytes.length
        await write(folder, file, bytes)
      }
      asked.set(picture.url, { url: picture.url, file, bytes: bytes.length })
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, fetchDue))
  await lock.confirm()
  await writeList(folder, { release: live.id, pictures: pictures.map((one) => asked.get(one.url) ?? one) })
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  const fetched = [...asked.values()].filter(({ file }) => file !== undefined).length
  const told = { fetched, failed: asked.size - fetched }
  log.info(told, 'pictures were mirrored')
  return `${told.fetched} fetched, ${told.failed} not to be had`
}

function afterFailure({ clock, log }: PictureMirror, { url, tries = 0 }: ListedPicture, reason: string): ListedPicture {
  if (tries === 0)
    log.info({ url, reason }, 'a picture cannot be mirrored: its page shows none, and it is asked for again')
  const waitMs = Math.min(firstWaitMs * 2 ** tries, longestWaitMs)
  return { url, tries: tries + 1, nextAt: isoInstantOf(new Date(clock().getTime() + waitMs)) }
}

/** The list of another release, with what is known of each picture; files that it does not name are removed. */
async function listAnew(
  { feedsDir, baseUrl }: PictureMirror,
  release: ReadableRelease,
  known: PictureList | undefined,
  signal: AbortSignal,
): Promise<PictureList> {
  const folder = releaseFolder(feedsDir).pictures
  const before = new Map(known?.pictures.map((picture) => [picture.url, picture]))
  const pictures: ListedPicture[] = []
  for await (const url of picturesOf(release)) {
    signal.throwIfAborted()
    if (url.startsWith(`${baseUrl}/`)) continue
    if (pictures.push(before.get(url) ?? { url }) === mostPictures) break
  }
  const list = { release: release.id, pictures }
  await makeDirectory(folder)
  const named = new Set([pictureListName, ...pictures.flatMap(({ file }) => file ?? [])])
  await writeList(folder, list)
  for (const name of await readdir(folder)) if (!named.has(name)) await rm(path.join(folder, name), { force: true })
  return list
}

async function writeList(folder: string, list: PictureList): Promise<void> {
  await write(folder, pictureListName, Buffer.from(JSON.stringify(list)))
}

async function write(folder: string, name: string, bytes: Buffer): Promise<void> {
  const file = path.join(folder, name)
  // Of a process that was killed.
  await rm(`${file}.part`, { force: true })
  await writeWhole(file, [bytes], { isPrivate: false })
}
