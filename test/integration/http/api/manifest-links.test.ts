import { beforeAll, describe, expect, it } from 'vitest'
import { demoSite } from '../../../support/portal/portal-site.js'
import type { Publisher } from '../../../support/release/publishing.js'

const manifest = '/feeds/manifest.json'

describe('whatever is published', () => {
  let base: string
  let publisher: Publisher
  let files: string[]
  const others: string[] = []

  beforeAll(async () => {
    ;({ base, publisher } = await demoSite())
    const live = await publisher.manifest()
    const feeds = JSON.parse(await publisher.read('/feeds/projects/index.json')) as { path: string }[]
    const [, identifier = ''] = /<iati-identifier>([^<]+)</.exec(await publisher.read('/iati/activities.xml')) ?? []
    files = [
      ...live.files.flatMap(({ path, immutablePath }) => [path, immutablePath]),
      ...['/feeds/releases.json', manifest, `/feeds/releases/${live.release}${manifest}`],
      ...feeds.slice(0, 2).map(({ path }) => path),
      ...[`/iati/activities/${identifier}.xml`, `/iati/activities/${identifier}.json`],
    ]
    // A page of each kind.
    const kinds = new Map<string, string>()
    const start = ['/', '/fr', '/projects', '/quality', '/changes', '/changes.atom', '/status', '/developers']
    const project = (await linksOf('/projects')).find((link) => /^\/projects\/\d+$/.test(link)) ?? ''
    for (const page of [...start, project]) {
      for (const link of await linksOf(page)) {
        if (/^\/(projects|organisations|countries|sectors|themes|changes)\//.test(link)) {
          kinds.set(link.replace(/^\/(\w+)\/.*?(\.\w+)?$/, '$1$2'), link)
        }
      }
    }
    expect([...kinds.keys()]).toEqual(
      expect.arrayContaining(['projects', 'organisations', 'countries', 'sectors', 'themes']),
    )
    others.push(...start, ...kinds.values(), '/robots.txt', '/sitemap.xml', '/sitemap-1.xml', '/feeds/status.json')
  })

  const seen = new Map<string, Promise<string[]>>()
  /** Where an answer leads, by its header and its body: addresses of this site. */
  function linksOf(path: string): Promise<string[]> {
    const known = seen.get(path) ?? readLinks(path)
    seen.set(path, known)
    return known
  }
  async function readLinks(path: string): Promise<string[]> {
    const answer = await fetch(base + path, { redirect: 'manual' })
    const body = await answer.text()
    expect([path, answer.status]).toEqual([path, 200])
    const header = [...(answer.headers.get('link') ?? '').matchAll(/<([^>]*)>/g)]
    const inBody = [...body.matchAll(/(?:href|src)="([^"#]*)"|"(?:path|manifest|url|contentUrl)": ?"([^"]*)"/g)]
    const found = [...header, ...inBody].map(([, one, other]) => one ?? other ?? '')
    return [...new Set(found.map((link) => link.replace(base, '')).filter((link) => /^\/(?!\/)/.test(link)))]
  }

  it('leads to the manifest in at most two links', async () => {
    for (const path of [...files, ...others]) {
      const isManifest = (link: string) =>
        link === manifest || /^\/feeds\/releases\/[^/]+\/feeds\/manifest.json$/.test(link)
      const first = await linksOf(path)
      if (isManifest(path) || first.some(isManifest)) continue
      const second = await Promise.all(first.slice(0, 20).map(linksOf))
      expect(second.flat().some(isManifest), path).toBe(true)
    }
  })

  it('has a tag and a date, by which it need not be read again', async () => {
    for (const path of [...files, '/changes.atom', '/projects', '/fr/quality']) {
      const answer = await fetch(base + path, { method: 'HEAD' })
      const [tag, date] = [answer.headers.get('etag'), answer.headers.get('last-modified')]
      expect([path, tag, date]).toEqual([path, expect.stringMatching(/^(W\/)?"/), expect.stringMatching(/GMT$/)])
      for (const headers of [{ 'if-none-match': String(tag) }, { 'if-modified-since': String(date) }]) {
        expect([path, headers, (await fetch(base + path, { headers })).status]).toEqual([path, headers, 304])
      }
    }
  })
})
