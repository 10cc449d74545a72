import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { organisationRecordVersion } from '../../catalogue/wire/write/organisation.js'
import { projectRecordVersion } from '../../catalogue/wire/write/project.js'
import { xmlDeclaration } from '../../catalogue/wire/write/wire-value.js'
import { isoDateOf, isoInstantOf } from '../../kernel/dates.js'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import type { Connection, Db } from '../../platform/database/connection.js'
import type { Store } from '../../platform/database/store.js'
import { inBlocks } from '../../release/bytes/blocks.js'
import type { FileEnvelope } from '../../release/bytes/file-writer.js'
import { BlockStart, inOneBatch } from '../../release/bytes/texts.js'
import { Draft } from '../../release/folder/draft.js'
import type { PlacedBlock } from '../../release/folder/layers.js'
import { newReleaseId, prepareFolder, runOfRelease, switchLiveRelease } from '../../release/folder/release-folder.js'
import { sweep } from '../../release/folder/sweep.js'
import type { FolderDeps, PublicationDeps, WorkOptions } from '../../release/publication.js'
import { renderOrganisationTexts, renderProjectTexts } from '../../release/render/ready-texts.js'
import { forgetContent, isContentRemembered, rememberContent } from '../../release/sql/content-changes.js'
import { byHand, underPublishingLock } from '../../release/sql/publishing-lock.js'
import type { Run } from '../../work/run.js'
import { type BulkFile, type BulkSet, bulkFolder, currentBulkSet, pathInSet } from './bulk-reader.js'
import {
  type BulkContent,
  type BulkFamily,
  type BulkFileName,
  bulkContents,
  bulkFilesOf,
  copyRecords,
  idsWithoutText,
} from './sql/bulk-texts.js'

const batchSize = 100
const lockPatienceMs = 10_000
// Blocks whose writing takes more memory than rendering does.
const manyBlocks = 1_250

/** The two families of files: the version of their records, and how records without a current text are rendered. */
const families = {
  project: { recordVersion: projectRecordVersion, render: renderProjectTexts },
  organisation: { recordVersion: organisationRecordVersion, render: renderOrganisationTexts },
} as const

/**
 * Builds a set of bulk files (wire.md 4.4): once a UTC day, for a publisher whose first run it is, and when a person asked
 * for the run, if any record has changed. A file whose records are the same is hard-linked. A superseded set stays for 48
 * hours. Safe to repeat after a crash at any line. Throws `aborted` on the signal.
 */
export async function buildBulkFiles(deps: PublicationDeps, run: Run, { signal }: WorkOptions): Promise<void> {
  const folder = bulkFolder(deps.feedsDir)
  await prepareFolder(folder)
  const lock = { patienceMs: lockPatienceMs, onTimeout: 'take-over', signal } as const
  const shared = deps.shared?.beside('bulk')
  await underPublishingLock(deps.store, lock, async (confirmLock) => {
    await shared?.pull()
    const before = await currentBulkSet(folder)
    if (before && runOfRelease(before.id) >= run.id) return
    const publisher = deps.mappingConfig.reportingOrg.ref
    const isDue = !before || run.force || !isOfSameDay(before, run) || before.publisher !== publisher
    const isAsked = !isDue && run.trigger === 'manual'
    if (!isDue && !isAsked) return
    for (const family of ['project', 'organisation'] as const) await renderMissing(deps.store, family, signal)
    const isSame = before && (await isContentRemembered(deps.store.db, 'records', nameOfContent(before.id)))
    if (!isSame) await deps.store.transaction((db) => forgetContent(db, 'records'))
    const remember = (set: string) =>
      deps.store.transaction((db) => rememberContent(db, 'records', nameOfContent(set), deps.clock()))
    if (isAsked && before && (isSame || (await isUnchanged(deps.store.db, before)))) return await remember(before.id)
    const id = newReleaseId(run)
    await using draft = await Draft.begin(folder, id)
    const files = await deps.store.snapshot(async (db, client) => {
      const { store, sparingly } = deps
      const build = { db, client, draft, run, before, isSame: isSame === true, store, sparingly, signal }
      return [...(await writeFamily(build, 'project')), ...(await writeFamily(build, 'organisation'))]
    })
    const set: BulkSet = { id, token: randomBytes(20).toString('hex'), files, publisher }
    await draft.write('/manifest.json', inOneBatch(`${JSON.stringify(set, null, 2)}\n`), signal, { twin: false })
    refuseAborted(signal, 'building the bulk files')
    await confirmLock()
    await draft.seal('releases')
    await shared?.push(id)
    await switchLiveRelease(folder, id)
    await remember(id)
    await sweep(folder, { keep: 1, now: deps.clock(), needed: [] })
    await shared?.push()
  })
}

/** Offers no set until the next publication builds one; addresses that were given out keep working. */
export async function withdrawBulkSet({ store, feedsDir, shared: folders }: Omit<FolderDeps, 'clock'>): Promise<void> {
  const shared = folders?.beside('bulk')
  const withdraw = () => rm(bulkFolder(feedsDir).current, { force: true })
  if (!shared) return await withdraw()
  await underPublishingLock(store, byHand, async () => {
    await shared.pull()
    await shared.push(null)
    await withdraw()
  })
}

/** Names the set whose files have the records of these versions. */
function nameOfContent(set: string): string {
  return [set, projectRecordVersion, organisationRecordVersion].join(' ')
}

/** Whether every file of the set would have the same records again. */
async function isUnchanged(db: Db, set: BulkSet): Promise<boolean> {
  for (const family of ['project', 'organisation'] as const) {
    for (const { name, fingerprint } of await bulkContents(db, family, families[family].recordVersion)) {
      if (set.files.find((file) => file.name === name)?.fingerprint !== fingerprint) return false
    }
  }
  return true
}

function isOfSameDay(set: BulkSet, run: Run): boolean {
  return set.id.startsWith(isoDateOf(run.startedAt).replaceAll('-', ''))
}

/** Renders records that have no text of their current version. */
async function renderMissing(store: Store, family: BulkFamily, signal: AbortSignal): Promise<void> {
  const { recordVersion, render } = families[family]
  for (let after = 0; ; ) {
    refuseAborted(signal, 'building the bulk files')
    const ids = await idsWithoutText(store.db, family, { after, limit: batchSize, recordVersion })
    const last = ids.at(-1)
    if (last === undefined) return
    await render(store, ids)
    after = last
    await nextTurn()
  }
}

type Build = {
  readonly store: Store
  readonly db: Db
  readonly client: Connection
  readonly draft: Draft
  readonly run: Run
  readonly before: BulkSet | undefined
  /** Whether the records are those of `before`. */
  readonly isSame: boolean
  readonly sparingly: PublicationDeps['sparingly']
  readonly signal: AbortSignal
}

/** Makes the files of a family that changed from blocks, and carries over the others. */
async function writeFamily(build: Build, family: BulkFamily): Promise<BulkFile[]> {
  const { db, draft, before, isSame } = build
  const kept = before?.files.filter(({ name }) => bulkFilesOf(family).includes(name)) ?? []
  const carry = async (file: BulkFile): Promise<BulkFile> => {
    await draft.carry(pathInSet(file.name), before?.id ?? '')
    return file
  }
  if (isSame) return await Promise.all(kept.map(carry))
  const contents = await bulkContents(db, family, families[family].recordVersion)
  const sameAs = ({ name, fingerprint }: BulkContent) =>
    kept.find((file) => file.name === name && file.fingerprint === fingerprint)
  const placed = await writeBlocks(
    build,
    family,
    contents.filter((content) => !sameAs(content)),
  )
  // Each is read for a hash of its own, at once.
  return await Promise.all(
    contents.map(async (content) => {
      const same = sameAs(content)
      return same ? await carry(same) : await joinContent(build, content, placed.get(content.name))
    }),
  )
}

type Placed = ReadonlyMap<string, PlacedBlock>

/** Writes the blocks that `before` lacks, reading each record once for all files; returns all blocks of each file. */
async function writeBlocks(
  { store, db, client, draft, run, before, sparingly, signal }: Build,
  family: BulkFamily,
  contents: readonly BulkContent[],
): Promise<ReadonlyMap<BulkFileName, Placed>> {
  const known = await Promise.all(
    contents.map(async ({ name, blocks }): Promise<Placed> => {
      if (!before || run.force) return new Map()
      return (await draft.blocksOf(pathInSet(name), before.id, blocks)) ?? new Map()
    }),
  )
  const starts = new Map<number, (string | undefined)[]>()
  for (const [file, { blocks }] of contents.entries()) {
    for (const { number, fingerprint } of blocks) {
      if (known[file]?.has(fingerprint)) continue
      const names = starts.get(number) ?? contents.map(() => undefined)
      starts.set(number, names)
      names[file] = fingerprint
    }
  }
  const [ids] = contents.map((content) => content.ids)
  if (ids === undefined || starts.size === 0)
    return new Map(contents.map(({ name }, file) => [name, known[file] ?? new Map()]))
  await store.readAlone(db)
  const blocks = new Map([...starts].map(([number, names]) => [number, new BlockStart(names)]))
  const { recordVersion } = families[family]
  const wanted = {
    names: contents.map(({ name }) => name),
    recordVersion,
    ids,
    numbers: [...starts.keys()].sort((one, other) => one - other),
  }
  const texts = inBlocks(
    copyRecords(client, family, wanted),
    ([number]) => number && blocks.get(Number(number.readBigInt64BE(0))),
    ([, text, ...isIn], { fingerprints }) =>
      contents.map((_, file) =>
        text && isIn[file]?.[0] === 1 && fingerprints[file] !== undefined ? [text, lineBreak] : [],
      ),
  )
  const layerNames = contents.map(({ name }) => `/${name}`)
  const write = () => draft.writeLayers(layerNames, texts, signal)
  const layers = await (sparingly && starts.size > manyBlocks ? sparingly(write) : write())
  return new Map(contents.map(({ name }, file) => [name, new Map([...(known[file] ?? []), ...(layers[file] ?? [])])]))
}

async function joinContent(
  { draft, run, before, signal }: Build,
  { name, records, fingerprint, blocks }: BulkContent,
  placed: Placed | undefined,
): Promise<BulkFile> {
  const places = blocks.flatMap((block) => placed?.get(block.fingerprint) ?? [])
  if (places.length < blocks.length) throw new Error(`${name} lacks blocks that were written`)
  const envelope = envelopeOf(name, records)
  const { written } = await draft.joinBlocks(pathInSet(name), places, signal, { envelope, from: before?.id })
  return { name, records, fingerprint, ...(await written), lastModified: isoInstantOf(run.startedAt) }
}

function envelopeOf(name: BulkFileName, records: number): FileEnvelope {
  return name.startsWith('projects')
    ? { head: `${xmlDeclaration}<projects numberFound="${records}">\n`, tail: '</projects>\n' }
    : { head: `${xmlDeclaration}<organizations>\n`, tail: '</organizations>\n' }
}

const lineBreak = Buffer.from('\n')
