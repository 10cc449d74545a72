import { Parser } from 'htmlparser2'
import sanitizeHtml from 'sanitize-html'
import { createYielder } from './yielder.js'

// Text, lists, tables, links and pictures stay. Scripts and styles are removed with their content, other elements without it.
const options: sanitizeHtml.IOptions = {
  allowedTags: [
    ...['p', 'br', 'hr', 'div', 'span', 'blockquote', 'pre', 'code', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
    ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
    ...['a', 'img', 'figure', 'figcaption', 'b', 'strong', 'i', 'em', 'u', 's', 'small', 'sub', 'sup', 'q', 'cite'],
  ],
  allowedAttributes: {
    a: ['href', 'title'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    th: ['colspan', 'rowspan', 'scope'],
    td: ['colspan', 'rowspan'],
    '*': ['dir', 'lang'],
  },
  // No `data:`, no `javascript:`.
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
}

/** What the HTML of one report may grow to. Sanitizing it takes longer than its length alone when it nests deeply. */
const limits = { characters: 131_072, depth: 100 }

/** Why the HTML of a report is not accepted; undefined when it is. */
export function reportHtmlProblem(html: string): { readonly expected: string; readonly got: string } | undefined {
  const { characters, depth } = limits
  if (html.length > characters) {
    return { expected: `HTML of at most ${characters} characters`, got: `${html.length} characters` }
  }
  if (nestsDeeper(html, depth)) return { expected: `HTML of at most ${depth} levels`, got: 'more levels' }
  return undefined
}

const text = '[^<>&]*'
const ends = (name: string, inside: string) => `<${name}>${inside}</${name}>`
const inLine = ['&(?:amp|lt|gt);', '<br />', ...['b', 'strong', 'i', 'em'].map((name) => ends(name, text))]
const between = (parts: readonly string[]) => `${text}(?:(?:${parts.join('|')})${text})*`
const words = between(inLine)
const items = `\\s*(?:${ends('li', words)}\\s*)*`
// What the sanitizer writes for most reports, and returns unchanged: to parse it takes a twentieth of a first build.
const plain = new RegExp(`^${between([...inLine, ends('p', words), ends('ul', items), ends('ol', items)])}$`)

/**
 * The HTML of a progress report without anything that could run, load or restyle in a client's page. Applied to every report
 * before it is stored; applying it again changes nothing. HTML beyond the limits becomes text.
 */
export function sanitizeReportHtml(html: string): string {
  if (reportHtmlProblem(html)) return html.replace(/[&<>]/g, (sign) => references[sign] ?? '')
  const closed = html.replace(/<br ?\/?>/g, '<br />')
  return plain.test(closed) ? closed : sanitizeHtml(html, options)
}

/**
 * The HTML of a report with absolute addresses of links and pictures, sanitized; HTML beyond the limits, or without a base, is
 * returned as it is.
 */
export function withAbsoluteLinks(html: string, base: string | undefined): string {
  if (base === undefined || !URL.canParse(base) || reportHtmlProblem(html)) return html
  const made =
    (name: string): sanitizeHtml.Transformer =>
    (tagName, attribs) => {
      const text = attribs[name]?.trim()
      if (text === undefined || /^[a-z][a-z0-9+.-]*:/i.test(text) || !URL.canParse(text, base))
        return { tagName, attribs }
      return { tagName, attribs: { ...attribs, [name]: new URL(text, base).href } }
    }
  return sanitizeHtml(html, { ...options, transformTags: { a: made('href'), img: made('src') } })
}

const references: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

type WithHtml = { readonly contentHtml: string }

const sanitized = new WeakSet<WithHtml>()

/** The reports with their HTML sanitized; other work gets a turn between them. */
export async function sanitizeReports<Report extends WithHtml>(reports: readonly Report[]): Promise<Report[]> {
  const yieldIfDue = createYielder()
  const safe: Report[] = []
  for (const report of reports) {
    const copy = { ...report, contentHtml: sanitizeReportHtml(report.contentHtml) }
    sanitized.add(copy)
    safe.push(copy)
    await yieldIfDue()
  }
  return safe
}

/** The sanitized HTML of a report; for one of {@link sanitizeReports} this costs nothing. */
export function safeHtmlOf(report: WithHtml): string {
  return sanitized.has(report) ? report.contentHtml : sanitizeReportHtml(report.contentHtml)
}

// Characters parsed at a time: a parser is stopped between them.
const pieceCharacters = 4096

/** Whether elements are nested deeper. */
function nestsDeeper(html: string, limit: number): boolean {
  if (html.split('<', limit + 2).length <= limit + 1) return false
  let depth = 0
  let deepest = 0
  const parser = new Parser({
    onopentag: () => {
      depth += 1
      deepest = Math.max(deepest, depth)
    },
    onclosetag: () => {
      depth -= 1
    },
  })
  for (let at = 0; at < html.length && deepest <= limit; at += pieceCharacters) {
    parser.write(html.slice(at, at + pieceCharacters))
  }
  return deepest > limit
}
