import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importFiles } from '../../src/catalogue/import/import.js'
import { seedDemo } from '../../src/demo/sql/demo.js'
import { seed } from '../../src/demo/sql/seed.js'
import type { Store } from '../../src/platform/database/store.js'
import { createReleaseReader } from '../../src/release/read/release-reader.js'
import { testApi } from '../support/api/api.js'
import { choosePages, countedFigures, shownFigures } from '../support/portal/portal-figures.js'
import { dataPackageFindings, dcatFindings } from '../support/release/catalogue-check.js'
import { type Publisher, testPublisher } from '../support/release/publishing.js'
import { openTables } from '../support/release/table-reader.js'
import { tableDifferences } from '../support/release/table-recount.js'
import { testDatabase } from '../support/store/database.js'
import { realRecords } from '../support/values/borrowed-files.js'
import { day, mappingConfig } from '../support/values/builders.js'
import { record } from './support/record.js'

const { currency, baseUrl } = mappingConfig
const settings = { today: day('2026-11-20'), currency, baseUrl }
const samples = realRecords('pages and tables of the real records')
const clock = () => new Date('2026-11-21T01:00:00Z')

const fills: Record<string, (store: Store) => Promise<unknown>> = {
  'the demo': (store) => seedDemo(store, settings),
  ...(samples && {
    'the 50 real records': (store) => importFiles(store, [samples], { source: 'import', clock, currency }),
  }),
  '10,000 seeded projects': (store) => seed(store, { ...settings, projects: 10_000, source: 'local', firstId: 1 }),
}

/** Pages and tables of a release beside its XML, read by libxml2; `npm test` has the demo alone. */
describe.each(Object.keys(fills))('open data of %s', (name) => {
  let publisher: Publisher
  let app: FastifyInstance
  let duck: DuckDBConnection

  beforeAll(async () => {
    const { store } = await testDatabase()
    await fills[name]?.(store)
    publisher = await testPublisher(store)
    expect((await publisher.publish()).state).toBe('published')
    ;({ app } = await testApi(store, { store, releases: createReleaseReader(publisher.feedsDir) }))
    duck = await openTables()
  }, 900_000)

  afterAll(() => duck.closeSync())

  it('shows figures on pages that equal a recount', async () => {
    const release = await publisher.live()
    const pages = await choosePages(release)
    expect(await shownFigures(app, pages)).toEqual(await countedFigures(release, pages))
  })

  it('has tables that equal a recount', async () => {
    expect(await tableDifferences(publisher, duck)).toEqual([])
    const { totals } = await publisher.manifest()
    record({
      name: `pages and tables of ${name}, recounted by libxml2`,
      engine: '-',
      tried: totals.activities,
      outcome: '0 differences',
    })
  })

  it('is described as the official profile and shapes demand', async () => {
    expect(dataPackageFindings(JSON.parse(await publisher.read('/data/datapackage.json')))).toEqual([])
    expect(await dcatFindings(await publisher.read('/data/catalog.ttl'))).toEqual([])
  })

  it('is not written again when nothing changed', async () => {
    const before = await filesOnDisk(publisher)
    publisher.now = new Date('2026-11-21T03:00:00Z')
    expect((await publisher.publish({ force: true })).state).toBe('unchanged')
    expect(await filesOnDisk(publisher)).toEqual(before)
  })
})

/** Every file of every release, with the time of its last change. */
async function filesOnDisk({ feedsDir }: Publisher): Promise<string[]> {
  const releases = path.join(feedsDir, 'releases')
  const found: string[] = []
  for (const entry of await readdir(releases, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    const { mtimeMs, ctimeMs, ino } = await stat(file)
    found.push(`${file} ${ino} ${mtimeMs} ${ctimeMs}`)
  }
  return found.sort()
}
