import { beforeAll, describe, expect, it } from 'vitest'
import { moveDemo, seedDemo } from '../../../../src/demo/sql/demo.js'
import { escapeText } from '../../../../src/kernel/xml/writer.js'
import { testApi } from '../../../support/api/api.js'
import { testPublisher } from '../../../support/release/publishing.js'
import { testDatabase } from '../../../support/store/database.js'
import { day, mappingConfig, usd } from '../../../support/values/builders.js'

// Names of namespaces and coordinate systems, not links.
const names = /^https?:\/\/(?:www\.w3\.org|www\.opengis\.net|purl\.org)\//
const { baseUrl } = mappingConfig

describe('the demo', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store)
  const publisher = await testPublisher(store, { feedsDir: api.feedsDir })
  const text = async (path: string) => {
    const answer = await api.app.inject({ url: path, headers: { accept: 'application/xml' } })
    expect(answer.statusCode, path).toBe(200)
    return answer.body
  }

  beforeAll(async () => {
    await seedDemo(store, { today: day('2026-11-20'), currency: usd, baseUrl: 'http://localhost:3000' })
    await moveDemo(store, baseUrl)
    await publisher.publish()
  })

  it('has no active project without what every real one has', async () => {
    const { rows } = await store.db.query(
      `select id from project where active and (goal is null or approved_date is null or modified_date is null
        or concat(summary, 'x') ~ '^x' or concat(need, 'x') ~ '^x' or concat(activities, 'x') ~ '^x'
        or concat(long_term_impact, 'x') ~ '^x' or summary || need || activities ~ '[<\\\\]')`,
    )
    expect(rows).toEqual([])
  })

  it('has no link in the API, in IATI or in Atom that leads nowhere, wherever it was first started', async () => {
    const key = `api_key=${api.apiKey}`
    const service = '/api/public/projectservice'
    const documents = ['/iati/activities.xml', '/iati/organisations.xml', '/feeds/reports.atom'].map(text)
    for (const from of [0, 9_000_101]) {
      documents.push(text(`${service}/all/projects?limit=100&nextProjectId=${from}&${key}`))
    }
    documents.push(text(`/api/public/orgservice/all/organizations?limit=100&${key}`))
    const { rows } = await store.db.query<{ id: number; reported: boolean }>(
      `select id, exists (select from progress_report r where r.project_id = p.id) as reported
        from project p where active order by id`,
    )
    for (const { id, reported } of rows) {
      documents.push(text(`${service}/projects/${id}/imagegallery?${key}`))
      if (reported) documents.push(text(`/feeds/projects/${id}/reports.atom`))
    }
    const links = new Set(
      (await Promise.all(documents))
        .flatMap((document) => document.match(/https?:\/\/[^\s"'<>]+/g) ?? [])
        .map((link) => link.replaceAll('&amp;', '&'))
        .filter((link) => !names.test(link)),
    )
    expect(links.size).toBeGreaterThan(1000)
    expect([...links].filter((link) => !link.startsWith(`${baseUrl}/`))).toEqual([])
    const dead: string[] = []
    for (const link of links) {
      const path = link.slice(baseUrl.length)
      const url = path.startsWith('/api/') ? `${path}${path.includes('?') ? '&' : '?'}${key}` : path
      const { statusCode } = await api.app.inject({ url })
      if (statusCode !== 200) dead.push(`${statusCode} ${path}`)
    }
    expect(dead).toEqual([])
  })

  it('shows the portal’s pages where its projects and organisations lead', async () => {
    const { rows } = await store.db.query<{ title: string; project: string; name: string; organisation: string }>(
      `select p.title, p.project_link as project, o.name, o.url as organisation from project p
        join organisation o on o.id = p.organisation_id where o.url like '%/demo/organizations/%' order by p.id limit 5`,
    )
    expect(rows).toHaveLength(5)
    for (const { title, project, name, organisation } of rows) {
      expect(await text(project.replace(baseUrl, ''))).toContain(`<h1 dir="auto">${escapeText(title)}</h1>`)
      const page = await text(organisation.replace(baseUrl, ''))
      expect(page).toContain(`<h1 dir="auto">${escapeText(name)}</h1>`)
      expect(page).toContain(escapeText(title))
    }
  })

  it('has pictures that are drawn the same every time, and nothing at other addresses', async () => {
    const picture = async (path: string) => await api.app.inject({ url: `/demo/img/${path}` })
    const first = await picture('9000001/large.png')
    expect(first.headers['content-type']).toBe('image/png')
    expect(first.rawPayload.subarray(1, 4).toString()).toBe('PNG')
    expect((await picture('9000001/large.png')).rawPayload.equals(first.rawPayload)).toBe(true)
    expect((await picture('9000002/large.png')).rawPayload.equals(first.rawPayload)).toBe(false)
    for (const path of ['9000001/huge.png', 'x/large.png', 'org/x.png'])
      expect((await picture(path)).statusCode).toBe(404)
    const json = await api.app.inject({ url: '/demo/img/x/large.png', headers: { accept: 'application/json' } })
    expect(json.statusCode).toBe(404)
    expect(json.json()).toMatchObject({ error_response: { error_code: 404 } })
  })
})
