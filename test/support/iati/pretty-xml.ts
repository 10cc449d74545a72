/** XML with an element a line, for golden files that a person can read and a diff can show. */
export function pretty(xml: string): string {
  const lines: string[] = []
  let depth = 0
  for (const token of xml.match(/<\/?[^>]+>[^<]*/g) ?? []) {
    if (token.startsWith('</')) {
      depth -= 1
      const last = lines.at(-1) ?? ''
      // An element with text only stays on its line.
      if (/>[^<]+$/.test(last) && !last.includes('</')) lines[lines.length - 1] = last + token.trimEnd()
      else lines.push('  '.repeat(depth) + token.trimEnd())
      continue
    }
    lines.push('  '.repeat(depth) + token)
    if (!/\/>|\?>/.test(token)) depth += 1
  }
  return `${lines.join('\n')}\n`
}
