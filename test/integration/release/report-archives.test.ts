import { XMLParser } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import type { Manifest } from '../../../src/release/read/manifest.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'

type AtomFeed = {
  readonly id: string
  readonly 'fh:archive'?: string
  readonly link: readonly { readonly rel: string; readonly href: string }[]
  readonly entry: readonly {
    readonly id: string
    readonly updated: string
    readonly content: { readonly text: string }
  }[]
}

// A parser that shares nothing with our writer.
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '',
  textNodeName: 'text',
  isArray: (name) => name === 'link' || name === 'entry',
})
const { store } = await testDatabase()
await store.db.query(
  `insert into project (id, active, status, title, source) values (1, true, 'active', 'Wells', 'local')`,
)
await addReports(1, 250, '2026-01-01')
const publisher = await testPublisher(store)
await publisher.publish()

/** Reports with ids `from` to `to`, an hour apart from that day on. */
async function addReports(from: number, to: number, since: string): Promise<void> {
  await store.db.query(
    `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url, source)
      select id, 1, 'Report ' || id, at, at, '<p>News ' || id || '</p><script>steal()</script>', 'https://giving.example/r/' || id, 'local'
      from generate_series($1::integer, $2::integer) id, lateral (select $3::timestamptz + (id - $1) * interval '1 hour' as at) t`,
    [from, to, since],
  )
}

async function feedAt(address: string): Promise<AtomFeed> {
  return (parser.parse(await publisher.read(address)) as { feed: AtomFeed }).feed
}

function linkOf(feed: AtomFeed, rel: string): string | undefined {
  return feed.link.find((link) => link.rel === rel)?.href.replace('https://giving.example', '')
}

/** Ids of all reports that a reader sees who follows `prev-archive` to its end. */
async function followed(): Promise<number[]> {
  const seen = new Set<number>()
  for (let at: string | undefined = '/feeds/reports.atom'; at !== undefined; ) {
    const feed: AtomFeed = await feedAt(at)
    for (const entry of feed.entry) seen.add(Number(entry.id.split('/').at(-1)))
    at = linkOf(feed, 'prev-archive')
  }
  return [...seen].sort((a, b) => a - b)
}

function archives({ files }: Manifest): Record<string, string> {
  return Object.fromEntries(
    files
      .filter(({ path }) => path.startsWith('/feeds/reports/'))
      .map(({ path, lastModified }) => [path, lastModified]),
  )
}

async function publishAt(instant: string): Promise<Record<string, string>> {
  publisher.now = new Date(instant)
  expect(['published', 'unchanged']).toContain((await publisher.publish()).state)
  return archives(await publisher.manifest())
}

const all = (to: number) => Array.from({ length: to }, (_, index) => index + 1)
const [one, two, three] = [1, 2, 3].map((n) => `/feeds/reports/archive-${n}.atom`) as [string, string, string]

describe('the archives of the feed of all reports', { shuffle: false }, () => {
  it('hold a hundred reports each, linked as RFC 5005 says, and lose none', async () => {
    const current = await feedAt('/feeds/reports.atom')
    expect(current.entry).toHaveLength(100)
    expect(current['fh:archive']).toBeUndefined()
    expect(linkOf(current, 'prev-archive')).toBe(two)
    const newest = await feedAt(two)
    expect(newest.entry).toHaveLength(100)
    expect(newest).toMatchObject({ 'fh:archive': '', id: current.id })
    expect([linkOf(newest, 'current'), linkOf(newest, 'self'), linkOf(newest, 'prev-archive')]).toEqual([
      '/feeds/reports.atom',
      two,
      one,
    ])
    expect(linkOf(await feedAt(one), 'prev-archive')).toBeUndefined()
    expect(await followed()).toEqual(all(250))
  })

  it('stay as they are when reports are added, and a late report is seen at once and moves none', async () => {
    await addReports(251, 280, '2026-08-01')
    await addReports(281, 281, '2020-01-01')
    expect(await publishAt('2026-11-21T03:00:00Z')).toEqual({
      [one]: '2026-11-21T02:00:00Z',
      [two]: '2026-11-21T02:00:00Z',
    })
    expect(await followed()).toEqual(all(281))
    // 100 newest, and the late one.
    expect((await feedAt('/feeds/reports.atom')).entry).toHaveLength(101)
  })

  it('gain one when another hundred is complete', async () => {
    await addReports(282, 305, '2026-09-01')
    expect(await publishAt('2026-11-21T04:00:00Z')).toEqual({
      [one]: '2026-11-21T02:00:00Z',
      [two]: '2026-11-21T02:00:00Z',
      [three]: '2026-11-21T04:00:00Z',
    })
    expect(await followed()).toEqual(all(305))
  })

  it('change only where a report of theirs, or a picture of one, changes', async () => {
    await store.db.query(
      `update progress_report set content_html = '<p>Corrected</p>', updated_at = '2026-11-20' where id = 150`,
    )
    expect(await publishAt('2026-11-21T05:00:00Z')).toMatchObject({
      [one]: '2026-11-21T02:00:00Z',
      [two]: '2026-11-21T05:00:00Z',
      [three]: '2026-11-21T04:00:00Z',
    })
    await store.db.query(`insert into report_image (report_id, position, url, media_type)
      values (7, 0, 'https://giving.example/7.jpg', 'image/jpeg')`)
    expect(await publishAt('2026-11-21T06:00:00Z')).toMatchObject({
      [one]: '2026-11-21T06:00:00Z',
      [two]: '2026-11-21T05:00:00Z',
    })
  })

  it('keep the place of a removed report empty', async () => {
    await store.db.query('delete from progress_report where id in (20, 305)')
    await addReports(306, 306, '2026-10-01')
    expect(await publishAt('2026-11-21T07:00:00Z')).toEqual({
      [one]: '2026-11-21T07:00:00Z',
      [two]: '2026-11-21T05:00:00Z',
      [three]: '2026-11-21T04:00:00Z',
    })
    expect((await feedAt(one)).entry).toHaveLength(99)
    expect(await followed()).toEqual(all(306).filter((id) => id !== 20 && id !== 305))
  })

  it('are carried over whole when nothing changed', async () => {
    const before = await publisher.manifest()
    await publishAt('2026-11-21T08:00:00Z')
    expect((await publisher.manifest()).release).toBe(before.release)
  })
})
