import { inflateSync } from 'node:zlib'

/** The texts of a PDF in the order in which they are drawn, and what is not compressed of it, such as its language. */
export function readPdf(bytes: Buffer): {
  readonly texts: readonly string[]
  /** How far from the left edge each of them begins. */
  readonly lefts: readonly number[]
  readonly plain: string
} {
  const plain = bytes.toString('latin1')
  const streams = [...plain.matchAll(/stream\r?\n/g)].flatMap(({ index, 0: word }) => {
    if (plain.slice(index - 3, index) === 'end') return []
    const end = plain.indexOf('endstream', index + word.length)
    try {
      return [inflateSync(bytes.subarray(index + word.length, end)).toString('latin1')]
    } catch {
      return []
    }
  })
  const letters: string[] = []
  for (const map of streams.filter((stream) => stream.includes('beginbfrange'))) {
    for (const [, first = '', list = ''] of map.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/gi)) {
      // A ligature has several.
      const units = [...list.matchAll(/<([0-9a-f ]*)>/gi)]
      for (const [at, [, unit = '']] of units.entries()) {
        letters[Number.parseInt(first, 16) + at] = Buffer.from(unit.replaceAll(' ', ''), 'hex')
          .swap16()
          .toString('utf16le')
      }
    }
  }
  const texts = streams.flatMap((stream) =>
    [...stream.matchAll(/\[(<[^\]]*)\] TJ/g)].map(([, drawn = '']) =>
      [...drawn.matchAll(/<([0-9a-f]*)>/g)]
        .flatMap(([, glyphs = '']) => glyphs.match(/.{4}/g) ?? [])
        .map((glyph) => letters[Number.parseInt(glyph, 16)] ?? '?')
        .join(''),
    ),
  )
  const lefts = streams.flatMap((stream) =>
    [...stream.matchAll(/^1 0 0 1 ([\d.]+) [\d.]+ Tm$/gm)].map(([, left]) => Number(left)),
  )
  return { texts, lefts, plain }
}
