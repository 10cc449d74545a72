import { type Colour, contrastOf, parseColour } from './contrast.js'

/** The colours of a platform on its pages: of the head and buttons, and of links and of what came in. */
export type BrandColours = { readonly head: Colour; readonly link: Colour }

/** What stands on the head and what links stand on: of the light and the dark scheme, those with the least contrast. */
const [onHead, behindLinks] = ['#e9f6f4', '#fbfaf6'] as const satisfies readonly Colour[]

/** Level AAA of WCAG 2.2. */
export const leastContrast = 7

/** Reads `#rrggbb,#rrggbb`; undefined for any other text, and for colours that some people could not read. */
export function parseBrandColours(text: string): BrandColours | undefined {
  const read = twoColours(text)
  return read && contrasts(read).every((contrast) => contrast >= leastContrast) ? read : undefined
}

/** What is expected instead of a text that cannot be used, with what its colours lack. */
export function expectedBrandColours(text: string): string {
  const read = twoColours(text)
  const [head = 0, link = 0] = read ? contrasts(read) : []
  const found = read ? ` (these have ${head.toFixed(1)} and ${link.toFixed(1)})` : ''
  return `two dark colours such as #0b4648,#08565a: of the head, below ${onHead}, and of links, on ${behindLinks}, each with a contrast of at least ${leastContrast}${found}`
}

function twoColours(text: string): BrandColours | undefined {
  const [head, link, ...more] = text.split(',').map((part) => parseColour(part.trim()))
  return head && link && more.length === 0 ? { head, link } : undefined
}

function contrasts({ head, link }: BrandColours): number[] {
  return [contrastOf(head, onHead), contrastOf(link, behindLinks)]
}
