import { hash } from 'node:crypto'
import { checkedPath, manifestPath, projectFeedIndexPath, releaseChainPath, statusPath } from '../../iati/addresses.js'
import { isoInstantOf } from '../../kernel/dates.js'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import { type TakenLock, takeLock } from '../../platform/database/locks.js'
import { type BucketState, findBucketState, forgetBucketState, recordBucketState } from '../../release/bucket-state.js'
import { isReleaseId, listReleaseIds, releaseFolder } from '../../release/folder/release-folder.js'
import type { FileLifetime, ServedFile } from '../../release/folder/served-file.js'
import type { FolderDeps } from '../../release/publication.js'
import { feedDifferences } from '../../release/read/feed-differences.js'
import type { Manifest } from '../../release/read/manifest.js'
import { createReleaseReader, type ReadableRelease } from '../../release/read/release-reader.js'
import { findLastGoodRun, type RunSummary } from '../../work/sql/runs.js'
import { type Bucket, type BucketObject, type BucketSettings, openBucket } from './bucket.js'
import { inParallel } from './in-parallel.js'

export type DeliveryDeps = FolderDeps & { readonly bucket: BucketSettings }

/**
 * Makes the bucket hold the live release (docs/how-to/bucket.md). What never changes is sent first, then the
 * permanent names are moved, the manifest last: whoever follows a manifest reads one set, wherever this is interrupted. The
 * newest release comes first: one that is overtaken before a name was moved gives way to it. Safe to
 * repeat; what is there already is not sent again. A failure is recorded for `giving status`, and thrown:
 * `bucket-unavailable` or `aborted`.
 */
export async function deliverRelease(deps: DeliveryDeps, signal: AbortSignal): Promise<string> {
  await using lock = await takeLock(deps.store.db, 'bucket')
  if (!lock) return 'another process delivers'
  const releases = createReleaseReader(deps.feedsDir)
  let outcome = ''
  // Where releases come faster than they are delivered, one of them is completed.
  for (let round = 1; round <= mostRounds; round++) {
    const isOvertaken = async (id: string) => round < mostRounds && (await releases.live())?.id !== id
    outcome = await deliverLive(deps, signal, lock, isOvertaken)
    if (outcome === 'up to date' || outcome === 'nothing to deliver') return outcome
    if (outcome !== overtaken && !(await isOvertaken(outcome))) break
  }
  return `release ${outcome} delivered`
}

const mostRounds = 4
const overtaken = 'overtaken'

/** Delivers what is live now; returns the release, or why none was. */
async function deliverLive(
  { store, feedsDir, clock, bucket, shared }: DeliveryDeps,
  signal: AbortSignal,
  lock: TakenLock,
  isOvertaken: (id: string) => Promise<boolean>,
): Promise<string> {
  // Another machine may have published since.
  await shared?.releases.follow()
  const releases = createReleaseReader(feedsDir)
  const release = await releases.live()
  const run = await findLastGoodRun(store.db, clock())
  if (!release || !run) return 'nothing to deliver'
  const target = `${bucket.endpoint ?? bucket.region} ${bucket.name}`
  const found = await findBucketState(store.db)
  const known: BucketState = found?.target === target ? found : { target }
  const { failure, ...state } = known
  if (!failure && state.release === release.id && state.run === run.id) return 'up to date'
  await recordBucketState(store.db, { ...known, begun: release.id }, clock())
  try {
    const delivery: Delivery = {
      ...{ release, run, checked: () => releases.checked() },
      kept: await listReleaseIds(releaseFolder(feedsDir).releases),
      bucket: await openBucket(bucket, signal),
      begun: state.begun,
      // After a delivery that was interrupted, the bucket may differ from its own index.
      isIndexTrue: state.begun === undefined || state.begun === state.release,
      isOvertaken: () => isOvertaken(release.id),
      confirm: async () => {
        refuseAborted(signal, 'sending to the bucket')
        await lock.confirm()
      },
    }
    if (!(await deliver(delivery))) return overtaken
    await recordBucketState(store.db, { target, begun: release.id, release: release.id, run: run.id }, clock())
    return release.id
  } catch (error) {
    const { message } = toServiceError(error)
    const since = failure?.since ?? isoInstantOf(clock())
    if (!signal.aborted) {
      await recordBucketState(store.db, { ...known, begun: release.id, failure: { message, since } }, clock())
    }
    throw error
  }
}

/**
 * Removes every release from the bucket, the manifest first, so that nobody finds what was withdrawn. Safe to repeat. Throws
 * `bucket-unavailable`, also while another process delivers.
 */
export async function withdrawFromBucket(
  { store, bucket: settings }: Pick<DeliveryDeps, 'store' | 'bucket'>,
  signal: AbortSignal,
): Promise<void> {
  await using lock = await takeLock(store.db, 'bucket')
  if (!lock) {
    throw new ServiceError('bucket-unavailable', 'another process is delivering a release: try again in a minute')
  }
  const bucket = await openBucket(settings, signal)
  const { manifest: before } = await manifestIn(bucket)
  const paths = [manifestPath, ...(before?.files ?? []).map(({ path }) => path)]
  for (const path of paths) for (const key of [keyOf(path), `${keyOf(path)}.gz`]) await bucket.remove(key)
  await inParallel(bucket.keys('feeds/'), (key) => bucket.remove(key))
  await forgetBucketState(store.db)
}

type Delivery = {
  readonly release: ReadableRelease
  readonly run: RunSummary
  /** What is signed beside releases. */
  readonly checked: () => Promise<ServedFile | undefined>
  /** Releases that are on disk. */
  readonly kept: readonly string[]
  readonly bucket: Bucket
  /** The release whose delivery was begun last. */
  readonly begun: string | undefined
  /** Whether the feeds of projects in the bucket are those of its index. */
  readonly isIndexTrue: boolean
  /** Whether another release is live now. */
  readonly isOvertaken: () => Promise<boolean>
  /** Throws when this process may not write to the bucket any more. */
  readonly confirm: () => Promise<void>
}

/** False when a newer release went live before the first name was moved. */
async function deliver(delivery: Delivery): Promise<boolean> {
  const { bucket, release, isOvertaken, confirm } = delivery
  const { manifest: before, mark } = await manifestIn(bucket)
  const paths = [...release.manifest.files.map(({ path }) => path), releaseChainPath, manifestPath]
  // What is sent in spite of some failures need not be sent by the next attempt.
  const send = async (path: string) => (await isOvertaken()) || (await keepForEver(delivery, path, before))
  await inParallel(paths, async (path) => void (await send(path)), mostFailures)
  await confirm()
  if (await isOvertaken()) return false
  await deliverProjectFeeds(delivery)
  await confirm()
  const vanished = before?.files.filter(({ path }) => !paths.includes(path)) ?? []
  await inParallel(vanished, async ({ path }) => {
    for (const key of [keyOf(path), `${keyOf(path)}.gz`]) await bucket.remove(key)
  })
  await inParallel(
    paths.filter((path) => path !== manifestPath),
    (path) => moveName(delivery, path),
  )
  await confirm()
  await moveManifest(delivery, mark)
  await stateFreshness(delivery)
  await prune(delivery, before)
  return true
}

const mostFailures = 8

/**
 * Sends a file under the address that it has for ever, or copies it from the release before, or from one whose delivery
 * was not completed.
 */
async function keepForEver(delivery: Delivery, path: string, before: Manifest | undefined): Promise<void> {
  const { bucket, release, begun } = delivery
  const file = await fileOf(release, path)
  const isSame = before?.files.some((one) => one.path === path && one.sha256 === file.sha256)
  for (const object of objectsOf(file, immutableKey(release.id, path), 'immutable')) {
    if ((await bucket.sha256Of(object.key)) === object.sha256) continue
    const from = (id: string) => object.key.replace(release.id, id)
    if (isSame && before && before.release !== release.id && (await bucket.copy(from(before.release), object))) continue
    if (begun !== undefined && begun !== release.id && begun !== before?.release) {
      const isThere = (await bucket.sha256Of(from(begun))) === object.sha256
      if (isThere && (await bucket.copy(from(begun), object))) continue
    }
    await bucket.put(object)
  }
}

/** Makes a permanent name lead to the file of this release. */
async function moveName({ bucket, release }: Delivery, path: string): Promise<void> {
  for (const object of objectsOf(await fileOf(release, path), keyOf(path), 'live')) {
    if ((await bucket.sha256Of(object.key)) === object.sha256) continue
    if (!(await bucket.copy(immutableKey(release.id, object.key), object))) await bucket.put(object)
  }
}

/**
 * Makes the manifest that of this release, when it still is the one that the delivery began with: a process that stood still
 * meanwhile does not take back what another one has delivered. A service without conditional writes has the lease alone.
 */
async function moveManifest({ bucket, release }: Delivery, mark: string | undefined): Promise<void> {
  const [identity, ...twins] = objectsOf(await fileOf(release, manifestPath), keyOf(manifestPath), 'live')
  if (identity && (await bucket.sha256Of(identity.key)) !== identity.sha256) {
    const moved = await bucket.putIf(identity, mark, 'unknown')
    // A write that was repeated, since its answer was lost, finds itself.
    if (moved === undefined && (await bucket.sha256Of(identity.key)) !== identity.sha256) {
      const message = 'another process has delivered a release meanwhile: this one begins again'
      throw new ServiceError('bucket-unavailable', message)
    }
  }
  for (const twin of twins) if ((await bucket.sha256Of(twin.key)) !== twin.sha256) await bucket.put(twin)
}

/** Sends the feeds of projects that changed; they have permanent names only. */
async function deliverProjectFeeds({ bucket, release, isIndexTrue }: Delivery): Promise<void> {
  const index = await fileOf(release, projectFeedIndexPath)
  const key = keyOf(projectFeedIndexPath)
  if (isIndexTrue && (await bucket.sha256Of(key)) === index.sha256) return
  await inParallel(feedDifferences(release, bucket.lines(key)), async ({ path, sha256, before }) => {
    if (sha256 === undefined) return await bucket.remove(keyOf(path))
    if (isIndexTrue && before === sha256) return
    const [object] = objectsOf(await fileOf(release, path), keyOf(path), 'live')
    if (object && (await bucket.sha256Of(object.key)) !== sha256) await bucket.put(object)
  })
}

/** The files that show readers that an unchanged set is up to date. */
async function stateFreshness({ bucket, release, run, checked }: Delivery): Promise<void> {
  const { id, state, finishedAt } = run
  const status = { release: release.id, generated: release.manifest.generated, runs: [{ id, state, finishedAt }] }
  const json = { mediaType: 'application/json; charset=utf-8', lifetime: 'live' } as const
  const body = Buffer.from(`${JSON.stringify(status, null, 2)}\n`)
  const sha256 = hash('sha256', body)
  await bucket.put({ ...json, key: keyOf(statusPath), body, sha256 })
  const file = await checked()
  if (!file) return
  await bucket.put({ ...json, key: keyOf(checkedPath), body: await file.identity.bytes(), sha256: file.sha256 })
}

/** Removes releases that are not on disk any more, but none that readers may still be reading. */
async function prune({ bucket, release, kept }: Delivery, before: Manifest | undefined): Promise<void> {
  for await (const id of bucket.folders(releasesPrefix)) {
    if (!isReleaseId(id) || id === release.id || id === before?.release || kept.includes(id)) continue
    await inParallel(bucket.keys(`${releasesPrefix}${id}/`), (key) => bucket.remove(key))
  }
}

const releasesPrefix = 'feeds/releases/'

function keyOf(path: string): string {
  return path.slice(1)
}

function immutableKey(release: string, path: string): string {
  return `${releasesPrefix}${release}/${path.replace(/^\//, '')}`
}

async function fileOf(release: ReadableRelease, path: string): Promise<ServedFile> {
  const file = await release.find(path)
  if (!file) throw new Error(`release ${release.id} has no ${path}`)
  return file
}

/** A file as an object, and its gzip twin as another one, for readers and networks that choose by `Accept-Encoding`. */
function objectsOf(file: ServedFile, key: string, lifetime: FileLifetime): BucketObject[] {
  const { mediaType, sha256, identity, gzip } = file
  const same = { mediaType, sha256, lifetime }
  return [
    { ...same, key, body: identity },
    ...(gzip ? [{ ...same, key: `${key}.gz`, body: gzip, encoding: 'gzip' as const }] : []),
  ]
}

/** The manifest that readers of the bucket follow, with a mark of its version; nothing before the first delivery. */
async function manifestIn(bucket: Bucket): Promise<{ readonly manifest?: Manifest; readonly mark?: string }> {
  const found = await bucket.get(keyOf(manifestPath))
  return found ? { manifest: JSON.parse(found.body.toString('utf8')) as Manifest, mark: found.mark } : {}
}
