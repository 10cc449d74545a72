import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isoDateOf, isoInstantOf } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import { type BulkFileName, bulkFileNames, bulkFingerprint, bulkTexts, idsWithoutText } from '../store/bulk-texts.js'
import type { Connection, Db } from '../store/connection.js'
import type { Store } from '../store/store.js'
import { organizationMapping } from '../wire/organization.js'
import { projectMapping } from '../wire/project.js'
import { xmlDeclaration } from '../wire/wire.js'
import { type BulkFile, type BulkSet, bulkAddress, bulkFolder, currentBulkSet } from './bulk-reader.js'
import { Draft } from './draft.js'
import type { PublicationDeps, RunHandle, WorkOptions } from './publication.js'
import { underPublishingLock } from './publishing-lock.js'
import { newReleaseId, prepareFolder, runOfRelease, sweep, switchLiveRelease } from './release-folder.js'
import { renderOrganisationTexts, renderProjectTexts } from './wire-texts.js'

const batchSize = 100
const lockPatienceMs = 10_000

/**
 * Builds the day's set of bulk files (wire contract 4.4): once a UTC day, or when the run is forced; a file whose records
 * are the same is hard-linked. A set that was followed by another stays for 48 hours. Safe to repeat after a crash at
 * any line. Throws `aborted` on the signal.
 */
export async function buildBulkFiles(
  deps: Pick<PublicationDeps, 'store' | 'feedsDir' | 'clock'>,
  run: RunHandle,
  { signal }: Pick<WorkOptions, 'signal'>,
): Promise<void> {
  const folder = bulkFolder(deps.feedsDir)
  await prepareFolder(folder)
  const lock = { patienceMs: lockPatienceMs, then: 'take-over', signal } as const
  await underPublishingLock(deps.store, lock, async (stillOurs) => {
    const before = await currentBulkSet(folder)
    if (before && (runOfRelease(before.id) >= run.id || (!run.force && isOfSameDay(before, run)))) return
    await renderWhatIsMissing(deps.store, signal)
    const id = newReleaseId(run)
    await using draft = await Draft.begin(folder, id)
    const files = await deps.store.snapshot(async (db, client) => {
      const written: BulkFile[] = []
      for (const name of bulkFileNames) {
        written.push(await writeBulkFile({ db, client, draft, run, before, signal }, name))
      }
      return written
    })
    const set: BulkSet = { id, token: randomBytes(20).toString('hex'), files }
    await draft.write('/manifest.json', once(`${JSON.stringify(set, null, 2)}\n`), signal, { twin: false })
    refuseAborted(signal)
    await stillOurs()
    await draft.seal('releases')
    await switchLiveRelease(folder, id)
    await sweep(folder, { keep: 1, now: deps.clock(), needed: [] })
  })
}

function isOfSameDay(set: BulkSet, run: RunHandle): boolean {
  return set.id.startsWith(isoDateOf(run.startedAt).replaceAll('-', ''))
}

async function renderWhatIsMissing(store: Store, signal: AbortSignal): Promise<void> {
  const work = [
    { of: 'project', mapping: projectMapping, render: renderProjectTexts },
    { of: 'organisation', mapping: organizationMapping, render: renderOrganisationTexts },
  ] as const
  for (const { of, mapping, render } of work) {
    for (let after = 0; ; ) {
      refuseAborted(signal)
      const ids = await idsWithoutText(store.db, of, { after, limit: batchSize, mapping })
      const last = ids.at(-1)
      if (last === undefined) break
      await render(store, ids)
      after = last
      await nextTurn()
    }
  }
}

type Build = {
  readonly db: Db
  readonly client: Connection
  readonly draft: Draft
  readonly run: RunHandle
  readonly before: BulkSet | undefined
  readonly signal: AbortSignal
}

async function writeBulkFile(build: Build, name: BulkFileName): Promise<BulkFile> {
  const { db, client, draft, run, before, signal } = build
  const mapping = name.startsWith('projects') ? projectMapping : organizationMapping
  const { records, fingerprint } = await bulkFingerprint(db, name, mapping)
  const known = before?.files.find((file) => file.name === name)
  if (before && known?.fingerprint === fingerprint) {
    await draft.carry(bulkAddress(name), before.id)
    return known
  }
  const written = await draft.write(bulkAddress(name), bulkDocument(client, name, { mapping, records }), signal)
  return { name, records, ...written, fingerprint, lastModified: isoInstantOf(run.startedAt) }
}

async function* bulkDocument(
  client: Connection,
  name: BulkFileName,
  { mapping, records }: { mapping: number; records: number },
): AsyncGenerator<Buffer> {
  const [root, open] = name.startsWith('projects')
    ? ['projects', `<projects numberFound="${records}">`]
    : ['organizations', '<organizations>']
  const lineBreak = Buffer.from('\n')
  yield Buffer.from(`${xmlDeclaration}${open}\n`)
  for await (const texts of bulkTexts(client, name, mapping)) {
    // Copies: the texts are views into a network buffer that is about to be reused.
    for (const text of texts) yield Buffer.concat([text, lineBreak])
  }
  yield Buffer.from(`</${root}>\n`)
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted)
    throw new ServiceError('aborted', 'building the bulk files was interrupted; it will be done again')
}

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
