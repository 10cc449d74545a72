import { Parser } from 'htmlparser2'

const blockElements = new Set([
  'p',
  'div',
  'br',
  'li',
  'ul',
  'ol',
  'tr',
  'table',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'blockquote',
  'section',
  'article',
  'header',
  'footer',
  'pre',
  'hr',
  'dt',
  'dd',
])
const hiddenElements = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'object'])
// ASCII words without markup, one blank between them: nothing to strip, fold or normalise.
const plainAlready = /^[!-%'-;=-~]+(?: [!-%'-;=-~]+)*$/
const hasMarkup = /[<&]/
const needsTidying = /[^\S\n]{2,}|[^\S \n]|\n\n|^\s|\s$| \n|\n /

/**
 * The text as plain words (iati.md 1.2): tags stripped, entities decoded, paragraphs and line breaks kept as one
 * `\n`, other white space folded, NFC. Text that only looks like markup (`a < b`) stays.
 */
export function plainText(text: string): string {
  if (plainAlready.test(text)) return text
  return tidy(hasMarkup.test(text) ? stripMarkup(text) : text).normalize('NFC')
}

// Markup is parsed in pieces so that the lead of a long text does not cost parsing all of it.
const pieceCharacters = 4096

/** The beginning of the text as plain words, cut between words and ended by an ellipsis. */
export function leadOf(html: string, maxCharacters: number): string {
  const words = tidy(
    hasMarkup.test(html) ? stripMarkup(html, maxCharacters * 2) : html.slice(0, maxCharacters * 4),
  ).normalize('NFC')
  if (words.length <= maxCharacters) return words
  const cut = words.slice(0, maxCharacters - 1)
  const blank = Math.max(cut.lastIndexOf(' '), cut.lastIndexOf('\n'))
  // Where no blank is near (languages that use none), the cut must not split a surrogate pair.
  const end = blank > maxCharacters / 2 ? blank : isHighSurrogate(cut) ? cut.length - 1 : cut.length
  return `${cut.slice(0, end).trimEnd()}…`
}

function isHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last < 0xdc00
}

// The parser searches all open elements for each end tag; no text of a project nests nearly as deep.
const mostDepth = 200

/** The text without tags; stops after about `enough` characters. */
function stripMarkup(html: string, enough = Number.POSITIVE_INFINITY): string {
  let out = ''
  let depth = 0
  let deepest = 0
  let hiddenDepth = 0
  const parser = new Parser(
    {
      ontext: (piece) => {
        if (hiddenDepth === 0) out += piece
      },
      onopentagname: (name) => {
        depth += 1
        deepest = Math.max(deepest, depth)
        if (hiddenElements.has(name)) hiddenDepth += 1
        else if (blockElements.has(name)) out += '\n'
      },
      onclosetag: (name) => {
        depth -= 1
        if (hiddenElements.has(name)) hiddenDepth = Math.max(0, hiddenDepth - 1)
        else if (blockElements.has(name)) out += '\n'
      },
    },
    { decodeEntities: true },
  )
  for (let at = 0; at < html.length && out.length < enough; at += pieceCharacters) {
    parser.write(html.slice(at, at + pieceCharacters))
    if (deepest > mostDepth) return html.replace(/<[^<>]*>/g, '').slice(0, enough)
  }
  parser.end()
  return out
}

function tidy(text: string): string {
  if (!needsTidying.test(text)) return text
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim()
}
