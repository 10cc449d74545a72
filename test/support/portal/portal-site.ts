import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { expect } from 'vitest'
import { moveDemo, seedDemo } from '../../../src/demo/sql/demo.js'
import type { CurrencyCode } from '../../../src/kernel/money.js'
import type { Store } from '../../../src/platform/database/store.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { listen, testApi } from '../api/api.js'
import { testConfig } from '../api/api-config.js'
import { runCommandLine } from '../commands/command-line.js'
import { type Publisher, testPublisher } from '../release/publishing.js'
import { testDatabase } from '../store/database.js'
import { day, mappingConfig, usd } from '../values/builders.js'
import { temporaryFolder } from '../values/temporary-folder.js'

/** A portal over what the store has, published; closed after the file's tests. */
export async function publishedSite(
  store: Store,
  { currency = usd, feedsDir }: { readonly currency?: CurrencyCode; readonly feedsDir?: string } = {},
): Promise<{ app: FastifyInstance; publisher: Publisher }> {
  const publisher = await testPublisher(store, {
    mappingConfig: { ...mappingConfig, currency },
    ...(feedsDir && { feedsDir }),
  })
  expect((await publisher.publish()).state).toBe('published')
  const { app } = await testApi(store, {
    store,
    releases: createReleaseReader(publisher.feedsDir),
    config: { ...testConfig, publisherName: 'Giving Platform' },
  })
  return { app, publisher }
}

const projectLinkTemplate = 'https://give.example/?project={id}'

/** A portal that listens on the loopback address over a published demo; closed after the file's tests. */
export async function demoSite(): Promise<{ base: string; publisher: Publisher }> {
  const { store } = await testDatabase()
  let base = 'http://127.0.0.1'
  const config = {
    ...testConfig,
    publisherName: 'Giving Platform',
    sendsMail: true,
    baseUrl: () => base,
    projectLinkTemplate,
  }
  const api = await testApi(store, { config })
  base = await listen(api.app)
  await seedDemo(store, { today: day('2026-11-20'), currency: usd, baseUrl: 'http://localhost:3000' })
  await moveDemo(store, base)
  const publisher = await testPublisher(store, {
    feedsDir: api.feedsDir,
    mappingConfig: { ...mappingConfig, baseUrl: base },
  })
  await publisher.publish()
  // A second release, so that there are changes to look at.
  await store.db.query(`update project set title = title || ' (second phase)' where id in (9000003, 9000005)`)
  await store.db.query(`update project set summary = 'A new summary.' where id = 9000007`)
  publisher.now = new Date('2026-11-22T02:00:00Z')
  await publisher.publish()
  return { base, publisher }
}

const exported = ['organisations-civicrm', 'projects-excel-de', 'gifts-givewp-de', 'gifts-donorbox', 'reports-airtable']

/** A portal that listens over what an office exported from five programs, and the environment of its commands. */
export async function officeSite(): Promise<{ base: string; environment: Record<string, string> }> {
  const { store, url } = await testDatabase()
  const folder = path.resolve(import.meta.dirname, '../catalogue/exports')
  const environment = { DATABASE_URL: url, GIVING_DATA_DIR: await temporaryFolder(), DEFAULT_CURRENCY: 'EUR' }
  for (const name of exported) {
    const file = path.join(folder, name)
    const { code, stderr } = await runCommandLine(['import', `${file}.csv`, '--recipe', `${file}.json`], environment)
    expect(code, stderr).toBe(0)
  }
  const feedsDir = path.join(environment.GIVING_DATA_DIR, 'feeds')
  const { app } = await publishedSite(store, { currency: 'EUR' as CurrencyCode, feedsDir })
  return { base: await listen(app), environment }
}

/** Asks for all that pages lead to on this host, every project in one language, and follows the links of those `isFollowed`. */
export async function followLinks(
  app: FastifyInstance,
  wanted: string[],
  look: (address: string, body: string) => void = () => {},
  isFollowed: (address: string) => boolean = () => true,
): Promise<{ dead: string[]; seen: Set<string> }> {
  const seen = new Set(wanted)
  const dead: string[] = []
  for (let address = wanted.pop(); address !== undefined; address = wanted.pop()) {
    const answer = await app.inject(address)
    if (answer.statusCode !== 200) dead.push(`${answer.statusCode} ${address}`)
    look(address, answer.body)
    if (!isFollowed(address)) continue
    if (!/html|sitemap|robots/.test(`${answer.headers['content-type']} ${address}`)) continue
    for (const [, href = ''] of answer.body.matchAll(/(?:href|src|action)="([^"#]+)|(?<=<loc>)([^<]+)/g)) {
      const link = (href || '').replaceAll('&amp;', '&').replace(mappingConfig.baseUrl, '')
      // Lists of the other language are looked at too, but not those behind each figure of a year.
      if (!link.startsWith('/') || seen.has(link) || /^\/(?:en|fr)\/(?:projects|organisations)\/./.test(link)) continue
      if (/^\/..\/projects\?.*figure=/.test(link)) continue
      seen.add(link)
      wanted.push(link)
    }
  }
  return { dead, seen }
}
