import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import pino from 'pino'
import { ofExtensions } from '../../../src/extensions.js'
import type { Store } from '../../../src/platform/database/store.js'
import { createPublication } from '../../../src/release/create-publication.js'
import { releaseFolder } from '../../../src/release/folder/release-folder.js'
import type { PublicationDeps } from '../../../src/release/publication.js'
import type { Manifest } from '../../../src/release/read/manifest.js'
import { createReleaseReader, type ReadableRelease } from '../../../src/release/read/release-reader.js'
import { type InlineOptions, type PublicationRunDeps, publishInline } from '../../../src/release/run.js'
import { createOwner } from '../../../src/work/attempt.js'
import type { RunSummary } from '../../../src/work/sql/runs.js'
import { insertProjects } from '../store/catalogue.js'
import { copyDatabase, type TestDatabase, testDatabase } from '../store/database.js'
import { mappingConfig } from '../values/builders.js'
import { temporaryFolder } from '../values/temporary-folder.js'

/** Publication with a folder and a clock of the test's own. */
export type Publisher = {
  readonly deps: PublicationDeps
  readonly feedsDir: string
  /** What the clock says. */
  now: Date
  /** A whole run in this process, under the ledger: one that a person asks for, where nothing else is said. */
  publish(options?: Partial<InlineOptions>): Promise<RunSummary>
  /** The live release; throws when there is none. */
  live(): Promise<ReadableRelease>
  manifest(): Promise<Manifest>
  /** The text of a live file. */
  read(address: string): Promise<string>
  /** Names in a folder of the published files, sorted. */
  names(place: 'drafts' | 'held' | 'releases'): Promise<string[]>
}

/** Publishes without the files of extensions, which few tests are about and which take a third of the time. */
export const coreFiles = { addFiles: [], beside: [] } as const

/** A publisher over the store; a folder that was not given is removed after the file's tests. */
export async function testPublisher(store: Store, changes: Partial<PublicationDeps> = {}): Promise<Publisher> {
  const feedsDir = changes.feedsDir ?? (await temporaryFolder())
  const time = { now: new Date('2026-11-21T02:00:00Z') }
  const deps: PublicationDeps = {
    store,
    mappingConfig,
    keepReleases: 3,
    maxLossPercent: 5,
    addFiles: ofExtensions('addFiles'),
    beside: ofExtensions('beside'),
    clock: () => time.now,
    ...changes,
    feedsDir,
  }
  const publication = createPublication(deps)
  const runDeps: PublicationRunDeps = {
    store,
    publication,
    log: pino({ level: 'silent' }),
    clock: deps.clock,
    owner: createOwner(),
    // Long enough for a busy machine: no test of this publisher is about a lease that runs out.
    lockSeconds: 30,
  }
  const live = async () => {
    const release = await createReleaseReader(feedsDir).live()
    if (!release) throw new Error('there is no live release')
    return release
  }
  return Object.assign(time, {
    deps,
    feedsDir,
    publish: (options: Partial<InlineOptions> = {}) =>
      publishInline(runDeps, { trigger: 'manual', force: false, signal: new AbortController().signal, ...options }),
    live,
    manifest: async () => (await live()).manifest,
    read: async (address: string) => {
      const file = await (await live()).find(address)
      if (!file) throw new Error(`the live release has no ${address}`)
      return await file.identity.text()
    },
    names: async (place: 'drafts' | 'held' | 'releases') => (await readdir(releaseFolder(feedsDir)[place])).sort(),
  })
}

/** A database and a publisher whose first release has projects from 1 to `count`: made once, and copied for each who asks. */
export function publishedCopies(
  count: number,
  changes: Partial<PublicationDeps> = {},
): () => Promise<{ database: TestDatabase; publisher: Publisher }> {
  const make = async () => {
    const database = await testDatabase()
    const { publish, feedsDir } = await testPublisher(database.store, changes)
    await insertProjects(
      database.store.db,
      Array.from({ length: count }, (_, index) => ({ id: index + 1 })),
    )
    const { state, error } = await publish()
    if (state !== 'published') throw new Error(`the first release is ${state}: ${error?.message}`)
    return { database, feedsDir }
  }
  let made: ReturnType<typeof make> | undefined
  return async () => {
    made ??= make()
    const first = await made
    const [database, feedsDir] = [await copyDatabase(first.database), await temporaryFolder()]
    await promisify(execFile)('cp', ['-a', `${first.feedsDir}/.`, feedsDir])
    return { database, publisher: await testPublisher(database.store, { ...changes, feedsDir }) }
  }
}
