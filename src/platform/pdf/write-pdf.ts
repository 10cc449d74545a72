import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../../kernel/errors.js'
import { isRightToLeft } from '../../kernel/right-to-left.js'
import { messageOf } from '../../kernel/system-errors.js'

/** A document of one heading and lines of text, of which empty ones part paragraphs. */
export type PdfText = {
  readonly heading: string
  readonly lines: readonly string[]
  readonly language: string
  readonly author: string
  /** When what it says happened: the same text and time give the same bytes. */
  readonly at: Date
  /** A font in place of the built-in one, which has Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew and Arabic letters. */
  readonly fontFile?: string | undefined
}

const [margin, textSize, headingSize, leading] = [72, 11, 18, 1.6] as const

// The parts of pdfkit's font that its types lack.
type Drawn = { readonly _font: { readonly font: { hasGlyphForCodePoint(codePoint: number): boolean } } }

/**
 * Writes a tagged PDF of A4 pages; the font is in it, as far as it is used. Throws `configuration-invalid` when the font cannot be
 * read or lacks letters of the text.
 */
export async function writePdf({ heading, lines, language, author, at, fontFile }: PdfText): Promise<Buffer> {
  // Loaded with the first document: most processes write none.
  const { default: PDFDocument } = await import('pdfkit')
  const info = { Title: heading, Author: author, CreationDate: at, ModDate: at }
  const doc = new PDFDocument({
    ...{ size: 'A4', margin, info, lang: language, displayTitle: true, tagged: true, pdfVersion: '1.7' },
  })
  const written = buffer(doc)
  try {
    doc.font(fontFile ?? fileURLToPath(new URL('DejaVuSans.ttf', import.meta.url)))
  } catch (cause) {
    throw new ServiceError('configuration-invalid', `the font ${fontFile} cannot be used: ${messageOf(cause)}`, {
      cause,
    })
  }
  const { font } = (doc as unknown as Drawn)._font
  const letters = new Set([heading, ...lines].join(''))
  const lacking = [...letters].filter((letter) => !font.hasGlyphForCodePoint(letter.codePointAt(0) ?? 0))
  if (lacking.length > 0) {
    throw new ServiceError(
      'configuration-invalid',
      `the font of receipts lacks ${lacking.length} letters of this one: put a font that has them, with Latin letters, into MAIL_TEMPLATES_DIR as receipt.ttf`,
    )
  }
  const draw = isRightToLeft(language) ? drawFromRight : drawLine
  let y: number = margin
  const paragraph = (kind: 'H1' | 'P', texts: readonly string[], size: number) => {
    const drawn = () => {
      doc.fontSize(size)
      for (const line of texts.flatMap((text) => wrapped(doc, text))) {
        if (y + size > doc.page.height - margin) {
          doc.addPage()
          y = margin
        }
        draw(doc, line, y)
        y += size * leading
      }
    }
    const element = doc.struct(kind, {}, drawn)
    doc.addStructure(element)
    element.end()
    y += textSize
  }
  paragraph('H1', [heading], headingSize)
  for (const block of lines.join('\n').split(/\n{2,}/)) paragraph('P', block.split('\n'), textSize)
  doc.end()
  return await written
}

type Doc = PDFKit.PDFDocument

/** The words of each line that a text takes. */
function wrapped(doc: Doc, text: string): string[][] {
  const lines: string[][] = [[]]
  const [width, space] = [doc.page.width - 2 * margin, doc.widthOfString(' ')]
  let used = 0
  for (const word of text.split(' ').flatMap((one) => cut(doc, one, width))) {
    const wide = doc.widthOfString(word)
    if (used > 0 && used + space + wide > width) {
      lines.push([])
      used = 0
    }
    used += (used > 0 ? space : 0) + wide
    lines.at(-1)?.push(word)
  }
  return lines
}

/** A word in parts that fit into a line. */
function cut(doc: Doc, word: string, width: number): string[] {
  const letters = [...word]
  if (letters.length < 2 || doc.widthOfString(word) <= width) return [word]
  const middle = Math.ceil(letters.length / 2)
  return [letters.slice(0, middle), letters.slice(middle)].flatMap((part) => cut(doc, part.join(''), width))
}

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

/** Draws a line of a text that is read from left to right; the words of other directions in it are turned as they are read. */
function drawLine(doc: Doc, words: readonly string[], y: number): void {
  const space = doc.widthOfString(' ')
  let x: number = margin
  for (const run of runsOf(words)) {
    doc.text(run, x, y, { lineBreak: false })
    x += doc.widthOfString(run) + space
  }
}

/** The same for a text that is read from right to left. */
function drawFromRight(doc: Doc, words: readonly string[], y: number): void {
  let x = doc.page.width - margin
  for (const run of runsFromRight(words)) {
    x -= doc.widthOfString(run)
    doc.text(run, x, y, { lineBreak: false })
    x -= doc.widthOfString(' ')
  }
}

/** Words that are read from right to left, and what stands together between them. */
function runsFromRight(words: readonly string[]): string[] {
  const runs: string[] = []
  let joins = false
  for (const word of words) {
    const turns = rightToLeft.test(word)
    if (joins && !turns) runs.push(`${runs.pop()} ${word}`)
    else runs.push(word)
    joins = !turns
  }
  return runs
}

function runsOf(words: readonly string[]): string[] {
  const runs: string[] = []
  let turnedFrom: number | undefined
  let joins = false
  for (const word of words) {
    if (rightToLeft.test(word)) {
      turnedFrom ??= runs.length
      runs.splice(turnedFrom, 0, word)
      joins = false
      continue
    }
    turnedFrom = undefined
    if (joins) runs.push(`${runs.pop()} ${word}`)
    else runs.push(word)
    joins = true
  }
  return runs
}
