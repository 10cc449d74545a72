import { beforeAll, describe, expect, it } from 'vitest'
import { testApi } from '../../support/api/api.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'

const levels = 250_000

// Sanitizing this report takes a minute, in which the process answers nothing.
describe('a stored report, and a text, of 750 KB that nest without end', async () => {
  const { store } = await testDatabase()

  beforeAll(async () => {
    await store.db.query(
      `insert into project (id, active, status, title, need, source)
       values (1, true, 'active', 'Wells', repeat('<b>', $1) || 'The stream dries up.', 'local')`,
      [levels],
    )
    await store.db.query(
      `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url, source)
       select id, 1, 'Report ' || id, at, at, case id when 1 then repeat('<b>', $1) else '<p>News</p>' end,
         'https://giving.example/r/' || id, 'local'
       from generate_series(1, 2) id, lateral (select '2026-01-01Z'::timestamptz + id * interval '1 day' as at) t`,
      [levels],
    )
  })

  const asText = '&lt;b&gt;'.repeat(levels)

  it('are read through the API, the report as text', async () => {
    const { app, apiKey } = await testApi(store)
    const url = `/api/public/projectservice/projects/1/reports.json?api_key=${apiKey}`
    const feed = (await app.inject(url)).json() as { entries: { content: string }[] }
    const project = await app.inject(`/api/public/projectservice/projects/1.json?api_key=${apiKey}`)
    expect(project.statusCode).toBe(200)
    expect(feed.entries.map(({ content }) => content === asText || content)).toEqual(['<p>News</p>', true])
  })

  it('are published as text', async () => {
    const publisher = await testPublisher(store)
    expect(await publisher.publish()).toMatchObject({ state: 'published', held: 0 })
    expect(await publisher.read('/iati/activities.xml')).toContain('<narrative>The stream dries up.</narrative>')
    for (const address of ['/feeds/projects/1/reports.atom', '/feeds/reports.atom']) {
      const feed = await publisher.read(address)
      expect(feed.match(/<content[^>]*>&amp;lt;b&amp;gt;|<content[^>]*>&lt;p&gt;News/g)).toHaveLength(2)
    }
  })
})
