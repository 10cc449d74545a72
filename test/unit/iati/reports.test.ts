import { describe, expect, it } from 'vitest'
import { llmsText } from '../../../src/extensions/descriptions/llms-text.js'
import { describePublication } from '../../../src/extensions/descriptions/publication-description.js'
import { activitiesPath, isReportArchive, reportsArchivePath } from '../../../src/iati/addresses.js'
import { feedListHead, feedListLine, feedListTail } from '../../../src/iati/atom/feed-list.js'
import {
  projectReportFeed,
  recentReportFeed,
  reportArchive,
  titleOfFeed,
  toFeedConfig,
} from '../../../src/iati/atom/report-feed.js'
import { inputKey } from '../../../src/iati/input-key.js'
import { aGraph, aReport, mappingConfig } from '../../support/values/builders.js'

const config = { baseUrl: 'https://giving.example', language: 'en', publisherName: 'Example Giving' }

describe('published addresses', () => {
  it('have a number from the second part on', () => {
    expect([1, 2].map(activitiesPath)).toEqual(['/iati/activities.xml', '/iati/activities-2.xml'])
  })

  it('tell archives of reports from other files', () => {
    expect(isReportArchive(reportsArchivePath(1))).toBe(true)
    expect(['/feeds/reports.atom', '/old/feeds/reports/archive-1.atom'].map(isReportArchive)).toEqual([false, false])
  })
})

it('the key of the mapping changes with each of its inputs', () => {
  const { reportingOrg } = mappingConfig
  const keys = [
    mappingConfig,
    ...[{ ref: 'x' }, { name: 'x' }, { type: 'x' }].map((change) => ({
      ...mappingConfig,
      reportingOrg: { ...reportingOrg, ...change },
    })),
    ...[{ currency: 'EUR' as never }, { language: 'fr' }, { baseUrl: 'https://x.example' }].map((change) => ({
      ...mappingConfig,
      ...change,
    })),
  ].map(inputKey)
  expect(new Set(keys).size).toBe(keys.length)
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{16}$/)
})

describe('the list of feeds', () => {
  it('has a line for all reports and one for each project', () => {
    expect(toFeedConfig(mappingConfig)).toEqual(config)
    expect(
      feedListHead(config) + feedListLine(7, 'Wells & more', config) + feedListTail,
    ).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0">
<head><title>Progress reports: Example Giving</title><docs>http://opml.org/spec2.opml</docs></head>
<body>
<outline type="rss" text="Progress reports: Example Giving" title="Progress reports: Example Giving" xmlUrl="https://giving.example/feeds/reports.atom"/>
<outline type="rss" text="Wells &amp; more" title="Wells &amp; more" xmlUrl="https://giving.example/feeds/projects/7/reports.atom"/>
</body>
</opml>
`)
  })

  it('reads the title of a feed from its text', () => {
    const title = 'A & B < C > D &amp; "E"'
    const feed = projectReportFeed(aGraph({ project: { title }, reports: [aReport(1, '2026-10-02')] }), config)
    expect(titleOfFeed(feed?.text ?? '')).toBe(`Project reports: ${title.replace('&amp;', '&')}`)
    expect(titleOfFeed('<title type="text">a&#xD;b&amp;lt;</title>')).toBe('a\rb&lt;')
    expect(titleOfFeed('<title>a</title>')).toBe('')
  })
})

describe('a feed of reports', () => {
  const reports = [aReport(2, '2026-10-02'), aReport(1, '2026-10-05')]
  const links = (text: string | undefined) =>
    [...(text ?? '').matchAll(/<link rel="([^"]+)"[^>]* href="([^"]+)"/g)].map(([, rel, href]) => `${rel} ${href}`)
  const [self, site] = ['self https://giving.example/feeds/reports.atom', 'alternate https://giving.example/']

  it('is none without reports', () => {
    expect(recentReportFeed([], config)).toBeUndefined()
    expect(reportArchive([], config, 1, undefined)).toBeUndefined()
    expect(projectReportFeed(aGraph(), config)).toBeUndefined()
  })

  it('leads to its archives, if there are any', () => {
    const archive = (nth: number) => `https://giving.example/feeds/reports/archive-${nth}.atom`
    expect(links(recentReportFeed(reports, config)?.text)).toEqual([self, site])
    expect(links(recentReportFeed(reports, config, 3)?.text)).toEqual([self, site, `prev-archive ${archive(3)}`])
    const current = 'current https://giving.example/feeds/reports.atom'
    expect(links(reportArchive(reports, config, 1, undefined)?.text)).toEqual([`self ${archive(1)}`, site, current])
    expect(links(reportArchive(reports, config, 2, 1)?.text)).toEqual([
      ...[`self ${archive(2)}`, site, current],
      `prev-archive ${archive(1)}`,
    ])
  })

  it('is as new as its newest report, and counts them', () => {
    expect(recentReportFeed(reports, config)).toMatchObject({ entries: 2, updatedAt: new Date('2026-10-05T08:00:00Z') })
  })

  it('writes addresses of pictures as addresses, and leaves ids as they are', () => {
    const url = 'https://giving.example/Märkte 1'
    const report = { ...aReport(1, '2026-10-02'), url, images: [{ url: `${url}.jpg`, mediaType: undefined }] }
    const { text = '' } = recentReportFeed([report], config) ?? {}
    expect(text).toContain(`<id>${url}</id>`)
    expect(links(text)).toContain('enclosure https://giving.example/M%C3%A4rkte%201.jpg')
  })

  it('is by the publisher where a project has no organisation', () => {
    const { organisation: _, ...graph } = aGraph({ reports })
    expect(projectReportFeed(graph, config)?.text).toContain('<author><name>Example Giving</name></author>')
    expect(projectReportFeed(aGraph({ reports }), config)?.text).toContain(
      '<author><name>Tara Water Trust</name></author>',
    )
  })
})

it('llms.txt has each word of the publisher on one line', () => {
  const reportingOrg = { ...mappingConfig.reportingOrg, name: 'Giving \n  Lakes' }
  expect(llmsText(describePublication({ ...mappingConfig, reportingOrg }, [], { countries: [] }))).toContain(
    '# Projects of Giving Lakes\n',
  )
})
