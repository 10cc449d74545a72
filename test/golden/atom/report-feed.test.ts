import { describe, expect, it } from 'vitest'
import { projectReportFeed, recentReportFeed, reportArchive } from '../../../src/iati/atom/report-feed.js'
import { aGraph, aReport } from '../../support/values/builders.js'

const config = { baseUrl: 'https://giving.example', publisherName: 'Example Giving', language: 'en' }

describe('a feed of progress reports', () => {
  it('of a project is Atom, newest first, with pictures as the only links of entries', async () => {
    const graph = aGraph({
      project: { progressReportLink: 'https://giving.example/projects/wells-for-tara/updates/' },
      reports: [
        aReport(9002, '2026-10-02', {
          title: 'Third well <finished>',
          authorName: 'Amina Sesay',
          contentHtml: '<p>The pump runs &amp; runs.</p>\n<p>C:\\wells\tnext\r\n</p>',
          images: [{ url: 'https://giving.example/img/2045/r9002-1.jpg', mediaType: 'image/jpeg' }],
        }),
        aReport(9001, '2026-01-05'),
      ],
    })
    const feed = projectReportFeed(graph, config)
    expect(feed).toMatchObject({ entries: 2, updatedAt: new Date('2026-10-02T08:00:00Z') })
    await expect(feed?.text).toMatchFileSnapshot('project-reports.atom')
  })

  it('of all projects says when the newest of its reports was updated, not the newest published', () => {
    const feed = recentReportFeed(
      [aReport(2, '2026-10-02'), aReport(1, '2026-01-05', { updatedAt: new Date('2026-11-01T00:00:00Z') })],
      config,
    )
    expect(feed?.updatedAt).toEqual(new Date('2026-11-01T00:00:00Z'))
    expect(feed?.text).toContain('<id>https://giving.example/feeds/reports.atom</id>')
  })

  it('of all projects has archives as RFC 5005 says', async () => {
    const archive = reportArchive([aReport(2, '2026-01-06'), aReport(1, '2026-01-05')], config, 2, 1)
    await expect(archive?.text).toMatchFileSnapshot('reports-archive.atom')
  })

  it('shows report HTML without what could run, load or restyle', () => {
    const contentHtml =
      '<p onclick="x()" style="color:red">Hi <a href="javascript:x()">you</a><iframe src="https://a.example"></iframe></p>' +
      '<style>p{}</style><img src="https://a.example/1.jpg" alt="A"><script>x()</script>'
    const feed = recentReportFeed([aReport(2, '2026-10-02', { contentHtml })], config)
    expect(/<content type="html">([^<]*)</.exec(feed?.text ?? '')?.[1]).toBe(
      '&lt;p&gt;Hi &lt;a&gt;you&lt;/a&gt;&lt;/p&gt;&lt;img src="https://a.example/1.jpg" alt="A" /&gt;',
    )
  })
})
