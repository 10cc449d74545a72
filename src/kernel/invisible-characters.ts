// Controls, format characters (bidi, zero-width), private, unassigned and lone surrogate code points, line separators, and
// the letters and marks that show nothing; a variation selector stays, since emoji are written with it.
const invisible = /[\p{C}\p{Zl}\p{Zp}]|(?![\uFE0E\uFE0F])\p{Default_Ignorable_Code_Point}/gu

/** Text from outside, printable: characters that are invisible, or that a terminal would obey, become `\u{hex}`. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, (character) => `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`)
}

/** The same for JSON text, which stays the same JSON; line breaks between its values stay. */
export function escapeInvisibleInJson(json: string): string {
  return json.replace(invisible, (character) =>
    character === '\n' ? character : character.split('').map(escapeUnit).join(''),
  )
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
