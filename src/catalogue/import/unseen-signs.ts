// Spaces other than the plain one, and marks of direction, joining and byte order; not those within words (U+200C, U+200D).
const signs = /[\u00A0\u061C\u1680\u2000-\u200B\u200E\u200F\u202A-\u202F\u205F-\u2064\u2066-\u2069\u3000\uFEFF]/

/** A text without the spaces at its ends, and the signs that nobody sees and that programs leave there. */
export function withoutUnseenSigns(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isUnseen(text, start)) start++
  while (end > start && isUnseen(text, end - 1)) end--
  return text.slice(start, end)
}

/** Whether the sign at a place of a text is a space, or one that nobody sees. */
export function isUnseen(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || (code >= 0xa0 && signs.test(text.charAt(at)))
}
