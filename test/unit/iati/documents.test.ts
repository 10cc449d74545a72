import { describe, expect, it } from 'vitest'
import { iatiEnvelope } from '../../../src/iati/mapping/envelope.js'
import type { MappingConfig } from '../../../src/iati/mapping/mapping-config.js'
import { isoInstantOf } from '../../../src/kernel/dates.js'
import { type Changes, mapped } from '../../support/iati/mapped.js'
import { aReport, mappingConfig } from '../../support/values/builders.js'

describe('document links', () => {
  const urls = (changes: Changes) =>
    mapped(changes)
      .all('document-link')
      .map((text) => `${/url="([^"]+)"/.exec(text)?.[1]} ${/format="([^"]+)"/.exec(text)?.[1]}`)
  const photo = (position: number, renditions: Record<string, string>, changes = {}) => ({
    ...{ position, wireId: position, renditions, consent: true },
    ...changes,
  })

  it.each([
    ['https://x.example/a.PDF?v=1', 'application/pdf'],
    ['https://x.example/a.docx#2', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ])('of %s are %s', (url, format) => {
    expect(urls({ project: { additionalDocumentation: url } })).toEqual([`${url} ${format}`])
  })

  it.each(['https://x.example/plan', 'https://x.example/plan.exe', 'https://x.example/plan.pdfx12'])(
    'of %s are left out with a notice',
    (url) => {
      const activity = mapped({ project: { additionalDocumentation: url } })
      expect(activity.all('document-link')).toEqual([])
      expect(activity.notices('format-unknown')).toEqual([
        `additionalDocumentation: expected a known file name extension, got ${url}`,
      ])
    },
  )

  it('of further documents have the category that is assumed', () => {
    const changes = { project: { additionalDocumentation: 'https://x.example/a.pdf' } }
    const categoryOf = (config?: MappingConfig) =>
      mapped(changes, undefined, config)
        .all('document-link')
        .map((text) => /<category code="(\w+)"/.exec(text)?.[1])
    expect(categoryOf()).toEqual(['A02'])
    const assumed = { ...mappingConfig.assumed, documentCategory: 'A07' }
    expect(categoryOf({ ...mappingConfig, assumed })).toEqual(['A07'])
  })

  it('of an address that is none are left out with a notice', () => {
    const activity = mapped({ project: { projectLink: 'javascript:1' } })
    expect(activity.all('document-link')).toEqual([])
    expect(activity.notices('link-unusable')).toEqual([
      'document-link: expected an absolute http or https address, got javascript:1',
    ])
  })

  it('name the page of reports where there are reports', () => {
    const progressReportLink = 'https://x.example/reports'
    expect(urls({ project: { progressReportLink } })).toEqual([])
    expect(urls({ project: { progressReportLink, numberOfReports: 0 } })).toEqual([])
    expect(urls({ project: { progressReportLink, numberOfReports: 2 } })).toEqual([`${progressReportLink} text/html`])
    expect(urls({ project: { progressReportLink }, reports: [aReport(1, '2026-01-01')] })).toHaveLength(3)
  })

  it('are written once for an address in one category', () => {
    const url = 'https://x.example/one'
    expect(urls({ reports: [aReport(2, '2026-01-02', { url }), aReport(1, '2026-01-01', { url })] })).toHaveLength(2)
    expect(urls({ project: { projectLink: url }, reports: [aReport(1, '2026-01-01', { url })] })).toHaveLength(3)
  })

  it('show twenty reports and five photos with consent', () => {
    const reports = Array.from({ length: 22 }, (_, index) => aReport(index + 1, '2026-01-01'))
    expect(urls({ reports })).toHaveLength(21)
    const photos = Array.from({ length: 7 }, (_, index) => photo(index, { large: `https://x.example/${index}` }))
    expect(urls({ photos })).toEqual([0, 1, 2, 3, 4].map((index) => `https://x.example/${index} image/jpeg`))
    expect(urls({ photos: [photo(1, { large: 'https://x.example/1' }, { consent: false })] })).toEqual([])
  })

  it('have the best rendition of a photo in a listed format', () => {
    const renditions = { large: 'https://x.example/l.webp', original: 'https://x.example/o.png' }
    const activity = mapped({
      photos: [photo(1, renditions), photo(2, { medium: 'https://x.example/m.avif?1' }), photo(3, {})],
    })
    expect(activity.all('document-link').join()).toContain('url="https://x.example/o.png" format="image/png"')
    expect(activity.all('document-link').join()).toContain('<narrative>Photo: Wells for Tara</narrative>')
    expect(activity.notices('format-unknown')).toEqual([
      'photos: expected a JPEG, PNG or GIF rendition, got https://x.example/m.avif?1',
    ])
  })

  it('of reports without a title have their address as title', () => {
    const url = 'https://x.example/one'
    expect(
      mapped({ reports: [aReport(1, '2026-01-01', { title: '', url })] })
        .all('document-link')
        .at(-1),
    ).toContain(`<title><narrative>${url}</narrative></title>`)
  })
})

describe('results', () => {
  it('have reports until today', () => {
    const reports = [aReport(3, '2026-11-22'), aReport(2, '2026-11-21'), aReport(1, '2026-01-01')]
    const activity = mapped({ reports })
    expect(
      activity
        .all('result')
        .join()
        .match(/<period>/g),
    ).toHaveLength(2)
    expect(activity.validUntil).toBe('2026-11-22')
    expect(mapped({ reports: [aReport(1, '2026-11-22')] }).all('result')).toEqual([])
  })
})

describe('the envelope of a file', () => {
  it('is the declaration on a line of its own, and the root with its version', () => {
    expect(iatiEnvelope('iati-activities', isoInstantOf(new Date('2026-11-21T00:00:00Z')))).toEqual({
      head: '<?xml version="1.0" encoding="UTF-8"?>\n<iati-activities version="2.03" generated-datetime="2026-11-21T00:00:00Z">\n',
      tail: '</iati-activities>\n',
    })
  })
})
