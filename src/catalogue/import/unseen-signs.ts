// Spaces other than the plain one, and marks of direction, joining and byte order; not those within words (U+200C, U+200D).
const signs = /[\u00A0\u061C\u1680\u2000-\u200B\u200E\u200F\u202A-\u202F\u205F-\u2064\u2066-\u2069\u3000\uFEFF]/

// Nobody has more of them in one place; with a bound a file of nothing else needs no memory.
const mostHeld = 1000

/** A text without the spaces at its ends, and the signs that nobody sees and that programs leave there. */
export function withoutUnseenSigns(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isUnseen(text, start)) start++
  while (end > start && isUnseen(text, end - 1)) end--
  return text.slice(start, end)
}

/**
 * Removes unseen signs beside the quotes of cells, where CSV has none and its parser refuses them; those within quotes stay.
 * The returned function takes the next piece of a text, and without one the end.
 */
export function signsAtQuotes(): (piece?: string) => string {
  let held = ''
  let isQuoted = false
  return (piece) => {
    const text = held + (piece ?? '')
    // What follows the piece decides about the signs at its end.
    const end = piece === undefined ? text.length : Math.max(startOfSigns(text), text.length - mostHeld)
    held = text.slice(end)
    const parts = text.slice(0, end).split('"')
    const last = parts.length - 1
    const kept = parts.map((part, index) => {
      if (isQuoted !== (index % 2 === 1)) return part
      const left = index === 0 ? 0 : endOfSigns(part)
      const right = index === last && !held.startsWith('"') ? part.length : startOfSigns(part)
      return left < right ? part.slice(left, right) : ''
    })
    if (last % 2 === 1) isQuoted = !isQuoted
    return kept.join('"')
  }
}

function isUnseen(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || (code >= 0xa0 && signs.test(text.charAt(at)))
}

function endOfSigns(text: string): number {
  let end = 0
  while (end < text.length && isUnseen(text, end)) end++
  return end
}

/** Where the signs at the end of a text begin, with the quote before them. */
function startOfSigns(text: string): number {
  let start = text.length
  while (start > 0 && isUnseen(text, start - 1)) start--
  return start > 0 && text.charAt(start - 1) === '"' ? start - 1 : start
}
