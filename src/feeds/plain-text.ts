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
const hasMarkup = /[<&]/
const needsTidying = /[^\S\n]{2,}|[^\S \n]|\n\n|^\s|\s$| \n|\n /

/**
 * The text as plain words (IATI contract 1): tags stripped, entities decoded, paragraphs and line breaks kept as one
 * `\n`, other white space folded, NFC. Text that only looks like markup (`a < b`) stays.
 */
export function plainText(text: string): string {
  return tidy(hasMarkup.test(text) ? stripMarkup(text) : text).normalize('NFC')
}

function stripMarkup(html: string): string {
  let out = ''
  let hiddenDepth = 0
  const parser = new Parser(
    {
      ontext: (piece) => {
        if (hiddenDepth === 0) out += piece
      },
      onopentagname: (name) => {
        if (hiddenElements.has(name)) hiddenDepth += 1
        else if (blockElements.has(name)) out += '\n'
      },
      onclosetag: (name) => {
        if (hiddenElements.has(name)) hiddenDepth = Math.max(0, hiddenDepth - 1)
        else if (blockElements.has(name)) out += '\n'
      },
    },
    { decodeEntities: true },
  )
  parser.end(html)
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
