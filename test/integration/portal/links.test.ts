import { expect, it } from 'vitest'
import { seedDemo } from '../../../src/demo/sql/demo.js'
import { seed } from '../../../src/demo/sql/seed.js'
import { languages } from '../../../src/http/pages/words/words.js'
import { followLinks, publishedSite } from '../../support/portal/portal-site.js'
import { textsOf } from '../../support/portal/portal-words.js'
import { testDatabase } from '../../support/store/database.js'
import { day, mappingConfig, usd } from '../../support/values/builders.js'

const { en, fr } = languages

it('has no link that leads nowhere, on any page of the demo, and no text of another language', async () => {
  const { store } = await testDatabase()
  await seedDemo(store, { today: day('2026-11-20'), currency: usd, baseUrl: mappingConfig.baseUrl })
  const { app, publisher } = await publishedSite(store)
  await store.db.query(`update project set title = 'Another title' where id = 9000007`)
  await store.db.query(`update project set status = 'retired', active = false where id = 9000008`)
  await store.db.query(`update project set title = '<p></p>' where id = 9000009`)
  publisher.now = new Date('2026-11-22T02:00:00Z')
  expect((await publisher.publish()).state).toBe('published')
  const french = new Set(textsOf(fr).values())
  const english = new Set([...textsOf(en).values()].filter((text) => !french.has(text)))
  const untranslated = new Set<string>()
  const { dead, seen } = await followLinks(
    app,
    ['/', '/fr', '/fr/projects/9000001', '/fr/projects/9000003', '/robots.txt', '/sitemap.xml'],
    (address, body) => {
      if (!/^\/fr(?:\/|$)/.test(address)) return
      const texts = body
        .replace(/<code>[^<]*/g, '')
        .split(/<[^>]*>/)
        .map((text) => text.trim())
      for (const text of texts) if (english.has(text)) untranslated.add(`${address}: ${text}`)
    },
  )
  expect(dead).toEqual([])
  expect([...untranslated].filter((one) => !one.endsWith(': English'))).toEqual([])
  expect([...seen].filter((link) => /^\/projects\/\d+$/.test(link))).toHaveLength(120)
  expect([...seen].filter((link) => link.startsWith('/countries/'))).toHaveLength(12)
})

it('has no link that leads nowhere over seeded projects, whose data are odd', async () => {
  const { store } = await testDatabase()
  await seed(store, {
    projects: 30,
    source: 'demo',
    firstId: 1,
    today: day('2026-11-20'),
    currency: usd,
    baseUrl: mappingConfig.baseUrl,
  })
  const { app } = await publishedSite(store)
  const { dead, seen } = await followLinks(app, ['/'])
  expect(dead).toEqual([])
  expect([...seen].filter((link) => link.startsWith('/demo/')).length).toBeGreaterThan(30)
})
