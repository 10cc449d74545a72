import { hash } from 'node:crypto'
import { manifestPath, projectFeedIndexPath, releaseChainPath } from '../../iati/addresses.js'
import { isoInstantOf } from '../../kernel/dates.js'
import { noNotices } from '../../kernel/notice.js'
import { chainText, nextRecord } from '../../kernel/release-chain.js'
import type { Connection } from '../../platform/database/connection.js'
import { inOneBatch } from '../bytes/texts.js'
import type { Writing } from '../folder/draft.js'
import type { ReleasePlan } from '../plan/plan-release.js'
import type { PlannedContent, PlannedFile } from '../plan/planned-file.js'
import { listPackedFeeds, packFeeds, packIndexPath, packPath } from '../read/feed-pack.js'
import type { Manifest, ManifestFile } from '../read/manifest.js'
import { copyReportFeeds } from '../sql/renderings.js'
import type { Build } from './build.js'
import { writeIndex } from './write-index.js'
import { prepareSegments } from './write-segments.js'
import { writeTables } from './write-tables.js'

const jsonMediaType = 'application/json; charset=utf-8'

/** Writes files that changed, carries over the others, and writes the manifest and its record. */
export async function writeFiles(build: Build, plan: ReleasePlan): Promise<Manifest> {
  const { run, draft, live, signal, onProgress } = build
  const { reportingOrg } = build.config
  const generated = isoInstantOf(run.startedAt)
  const liveFiles = new Map(live?.manifest.files.map((file) => [file.path, file]))
  // Entries of the manifest, read once all files are being finished.
  const entries = new Map<string, () => Promise<ManifestFile>>()
  const steps = plan.files.length + 1
  const immutable = (path: string) => `/feeds/releases/${draft.id}${path}`
  const isCarried = ({ path, fingerprint }: PlannedFile) => liveFiles.get(path)?.fingerprint === fingerprint
  const addWritten = ({ path, mediaType, records, fingerprint, notices }: PlannedFile, { written }: Writing) => {
    const known = { path, immutablePath: immutable(path), mediaType, records }
    entries.set(path, async () => ({
      ...known,
      ...(await written),
      ...{ lastModified: generated, fingerprint, notices },
    }))
  }
  const changed = plan.files.filter((planned) => !isCarried(planned))
  const writeOneByOne = async (signal: AbortSignal) => {
    const writeSegment = await prepareSegments({ ...build, signal }, changed)
    for (const planned of plan.files) {
      onProgress('assemble', entries.size, steps)
      const { path, content, notices } = planned
      const before = liveFiles.get(path)
      if (live && before && isCarried(planned)) {
        await draft.carry(path, live.id)
        entries.set(path, async () => ({ ...before, immutablePath: immutable(path), notices }))
      } else if (content.kind === 'same') {
        const same = entries.get(content.as)
        if (!same) throw new Error(`${path} is the same file as ${content.as}, which is not written before it`)
        await draft.alias(content.as, path)
        entries.set(path, async () => ({ ...(await same()), path, immutablePath: immutable(path) }))
      } else if (content.kind === 'segment') {
        addWritten(planned, await writeSegment(path, content))
      } else if (content.kind !== 'table') {
        addWritten(planned, await writeContent({ ...build, signal }, path, content))
      }
    }
    onProgress('assemble', entries.size, steps)
    return await writeProjectFeeds({ ...build, signal }, plan, liveFiles.get(projectFeedIndexPath))
  }
  const [projectFeeds] = await atOnce(signal, writeOneByOne, (stopping) =>
    writeTablesBeside({ ...build, signal: stopping }, changed, addWritten),
  )
  const files: ManifestFile[] = []
  for (const { path } of plan.files) {
    const entry = await entries.get(path)?.()
    if (entry) files.push(entry)
  }
  files.push(projectFeeds)
  const previous = await live?.find(manifestPath)
  const manifest: Manifest = {
    release: draft.id,
    run: run.id,
    generated,
    ...(live &&
      previous && {
        previous: live.id,
        previousSha256: previous.sha256,
        previousReleases: previousReleases(live.manifest),
      }),
    publisher: { ref: reportingOrg.ref, name: reportingOrg.name },
    ...(plan.publisherRecord && { publisherRecord: plan.publisherRecord }),
    files,
    projectFeeds: { count: plan.feeds.count, index: projectFeedIndexPath },
    held: plan.held,
    totals: plan.totals,
  }
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  await draft.write('/manifest.json', inOneBatch(text), signal, { twin: false })
  const facts = {
    ...{ release: draft.id, run: run.id, generated, manifestSha256: hash('sha256', text) },
    ...{ activities: plan.totals.activities, files: files.length },
  }
  const chain = [...build.chain, nextRecord(facts, build.chain.at(-1), build.signer)]
  await draft.write(releaseChainPath, inOneBatch(chainText('releases', chain)), signal, { twin: false })
  await draft.synced()
  return manifest
}

/** Runs both at once. When one fails, stops the other and waits for its end. */
async function atOnce<First, Second>(
  signal: AbortSignal,
  first: (signal: AbortSignal) => Promise<First>,
  second: (signal: AbortSignal) => Promise<Second>,
): Promise<[First, Second]> {
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const works = [first(either), second(either)] as const
  try {
    return await Promise.all(works)
  } catch (error) {
    stop.abort()
    await Promise.allSettled(works)
    throw error
  }
}

/** Writes the tables over a second connection, so that the database reads them while other files are written. */
async function writeTablesBeside(
  { draft, live, store, snapshot, signal }: Build,
  files: readonly PlannedFile[],
  onWriting: (file: PlannedFile, writing: Writing) => void,
): Promise<void> {
  const changed = files.flatMap((file) => (file.content.kind === 'table' ? [{ ...file, content: file.content }] : []))
  if (changed.length === 0) return
  await store.besideSnapshot(snapshot.db, async (db, client) => {
    await store.readAlone(db)
    for await (const [file, writing] of writeTables(draft, live, client, changed, signal)) onWriting(file, writing)
  })
}

async function writeContent(
  { draft, live, snapshot, signal }: Build,
  path: string,
  content: Exclude<PlannedContent, { kind: 'same' | 'table' | 'segment' }>,
): Promise<Writing> {
  if (content.kind === 'index') return await writeIndex(draft, live, snapshot.client, content, signal)
  if (content.kind === 'joined') return await draft.join(path, content.parts, signal, content)
  const { envelope } = content
  return await draft.write(path, content.texts(snapshot.client), signal, envelope && { envelope })
}

const maxPreviousReleases = 10

function previousReleases(live: Manifest): NonNullable<Manifest['previousReleases']> {
  const { release } = live
  const newest = { release, manifest: `/feeds/releases/${release}${manifestPath}` }
  return [newest, ...(live.previousReleases ?? [])].slice(0, maxPreviousReleases)
}

async function writeProjectFeeds(
  build: Build,
  plan: ReleasePlan,
  before: ManifestFile | undefined,
): Promise<ManifestFile> {
  const { draft, live, signal } = build
  const immutablePath = `/feeds/releases/${draft.id}${projectFeedIndexPath}`
  if (live && before?.fingerprint === plan.feeds.fingerprint) {
    for (const path of [packPath, packIndexPath, projectFeedIndexPath]) await draft.carry(path, live.id)
    return { ...before, immutablePath }
  }
  // The index is written with the pack, and the listing from the index, so that neither is in memory as a whole.
  const packed = [packPath, packIndexPath].map((path) => ({ path, twin: false }))
  const packs = await draft.writeTogether(packed, packFeeds(packedFeeds(build.snapshot.client)), signal)
  await Promise.all(packs.map(({ written }) => written))
  const listing = await draft.write(projectFeedIndexPath, listPackedFeeds(draft.locate(packIndexPath)), signal)
  return {
    path: projectFeedIndexPath,
    immutablePath,
    mediaType: jsonMediaType,
    records: plan.feeds.count,
    ...(await listing.written),
    lastModified: isoInstantOf(build.run.startedAt),
    fingerprint: plan.feeds.fingerprint,
    notices: noNotices,
  }
}

async function* packedFeeds(client: Connection) {
  for await (const rows of copyReportFeeds(client)) yield rows.map(toPackedFeed)
}

function toPackedFeed([id, text, entries, changedAt]: readonly Buffer[]) {
  if (!id || !text || !entries || !changedAt) throw new Error('a report feed row has four columns')
  return {
    projectId: Number(id.readBigInt64BE(0)),
    text,
    entries: entries.readInt32BE(0),
    changedAt: Number(changedAt.readBigInt64BE(0)),
  }
}
