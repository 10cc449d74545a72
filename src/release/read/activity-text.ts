const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text that our writer escaped. */
export function unescapeText(markup: string): string {
  if (!markup.includes('&')) return markup
  return markup.replace(/&(#x([0-9A-Fa-f]+)|[a-z]+);/g, (whole, name: string, code?: string) =>
    code === undefined ? (entities[name] ?? whole) : String.fromCodePoint(Number.parseInt(code, 16)),
  )
}
