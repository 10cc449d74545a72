import { describe, expect, it } from 'vitest'
import { sanitizeReportHtml } from '../../../src/domain/report-html.js'

describe('the HTML of a report', () => {
  it.each([
    ['a script', '<p>a</p><script>alert(1)</script>', '<p>a</p>'],
    [
      'an event handler',
      '<img src="https://x.example/a.jpg" onerror="alert(1)">',
      '<img src="https://x.example/a.jpg" />',
    ],
    ['a javascript address', '<a href=" java\tscript:alert(1)">x</a>', '<a>x</a>'],
    ['a data address', '<img src="data:image/svg+xml;base64,AAAA">', '<img />'],
    ['an address without scheme', '<img src="//evil.example/p.gif">', '<img />'],
    ['a style', '<p style="position:fixed">a</p><style>p{}</style>', '<p>a</p>'],
    ['a frame', '<iframe src="https://x.example"></iframe>b', 'b'],
    ['a form', '<form action="https://x.example"><input name="q">c</form>', 'c'],
    ['an image that is not one', '<svg><g onload="alert(1)"></g></svg>d', 'd'],
    ['a comment', 'e<!-- f -->', 'e'],
    ['a tag that is never closed', '<p>g<script', '<p>gscript</p>'],
  ])('loses %s', (_what, html, clean) => {
    expect(sanitizeReportHtml(html)).toBe(clean)
  })

  it.each([
    '<p>Two <strong>wells</strong> &amp; a half<br />done.</p>',
    '<p dir="rtl" lang="ar">شكراً لكم جميعاً</p>',
    '<ul><li>Tools</li></ul><table><tr><td colspan="2">1</td></tr></table>',
    '<a href="https://x.example/?a=1&amp;b=2">more</a> <a href="mailto:a@x.example">write</a>',
    '<img src="/img/1.jpg" alt="a well" width="40" />',
    'plain text &lt;b&gt;',
  ])('keeps %s, and is the same when it is cleaned again', (html) => {
    expect(sanitizeReportHtml(html)).toBe(html)
    expect(sanitizeReportHtml(sanitizeReportHtml(html))).toBe(html)
  })
})
