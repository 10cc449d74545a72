import { expect } from 'vitest'
import { exportStore } from '../../../src/catalogue/export/export-store.js'
import { importExport } from '../../../src/catalogue/export/import-export.js'
import { importFiles } from '../../../src/catalogue/import/import.js'
import { decideProjectState } from '../../../src/catalogue/sql/project-states.js'
import { seed } from '../../../src/demo/sql/seed.js'
import type { Store } from '../../../src/platform/database/store.js'
import { comparableManifest, publishedBytes } from '../release/published-bytes.js'
import { type Publisher, testPublisher } from '../release/publishing.js'
import { records, startUpstream } from '../servers/upstream-server.js'
import { testDatabase } from '../store/database.js'
import { realRecords } from '../values/borrowed-files.js'
import { day, mappingConfig, usd } from '../values/builders.js'
import { sync } from './sync.js'

const clock = () => new Date('2026-11-18T12:00:00Z')

/** What an export in tests has, unless they say otherwise. */
export const everything = {
  format: 'ndjson',
  donors: false,
  accounts: false,
  clock,
  signal: new AbortController().signal,
} as const

const realPage = realRecords('an export of real records')
const firstId = 5_000_001

/** Puts rows of every source into a store: so many seeded projects, the real records, and a mirrored upstream. */
export async function fillWithEverySource(store: Store, projects: number): Promise<void> {
  const { currency, baseUrl } = mappingConfig
  await seed(store, { projects, source: 'local', firstId, today: day('2026-11-17'), currency, baseUrl })
  if (realPage) await importFiles(store, [realPage], { source: 'import', clock, currency: usd })
  const organization = { id: 3_000_700, name: 'Mirrored partner', themes: {}, countries: {} }
  const upstream = await startUpstream({ records: records(25, 901).map((one) => ({ ...one, organization })) })
  const run = await sync(store, upstream.url, 'full', { clock })
  await upstream.close()
  expect(run).toMatchObject({ state: 'done', created: 25, refused: 0 })
}

type Published = { readonly files: Readonly<Record<string, string>>; readonly manifest: unknown }

/**
 * Publishes a store on two days, with changes in between, exports it with changes that are not published yet, imports the
 * export into an empty store, and publishes both at the same instant: what each has published.
 */
export async function publishedTwice(
  projects: number,
  directory: string,
): Promise<{ readonly ours: Published; readonly theirs: Published }> {
  const { store } = await testDatabase()
  await fillWithEverySource(store, projects)
  const ours = await testPublisher(store)
  await publishAt(ours, '2026-11-18T02:00:00Z')
  const change = (sql: string) => store.db.query(sql)
  await change(`update project set title = 'A new title' where id = ${firstId + 2}`)
  // Held from now on: its last valid text stays in the feeds.
  await change(`update project set title = '<br/>' where id = ${firstId + 3}`)
  await store.transaction((db) => decideProjectState(db, firstId + 4, 'retired'))
  await change(`delete from progress_report where project_id = ${firstId + 5}`)
  await publishAt(ours, '2026-11-19T02:00:00Z')
  expect((await ours.manifest()).held.count).toBe(1)
  // Not published yet when the export is made; something in each file, so that all are written at the same time.
  await change(`update project set summary = 'Another summary' where id % 20 = 1`)
  await change(`update project set title = '<br/>' where id = ${firstId + 7}`)
  await change(`update organisation set url = 'https://new.example' where id = ${firstId}`)

  await exportStore(store, directory, everything)
  const { store: other } = await testDatabase()
  await importExport(other, directory, everything)
  const theirs = await testPublisher(other)
  await publishAt(ours, '2026-11-20T02:00:00Z')
  await publishAt(theirs, '2026-11-20T02:00:00Z')
  return { ours: await publishedBy(ours), theirs: await publishedBy(theirs) }
}

async function publishAt(publisher: Publisher, instant: string): Promise<void> {
  publisher.now = new Date(instant)
  expect(await publisher.publish()).toMatchObject({ state: 'published' })
}

async function publishedBy(publisher: Publisher): Promise<Published> {
  const manifest = comparableManifest(await publisher.manifest())
  return { files: await publishedBytes(publisher.feedsDir), manifest }
}
