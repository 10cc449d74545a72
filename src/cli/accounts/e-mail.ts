/** The characters of an e-mail beyond ASCII, each once: they may look like others. */
export function nonAsciiOf(email: string): string[] {
  const found = new Set(email.match(/[^\x20-\x7e]/gu))
  return [...found].map((character) => `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`)
}

/** An e-mail for people, marked when it has characters that may look like others. */
export function describeEmail(email: string): string {
  const characters = nonAsciiOf(email)
  return characters.length > 0 ? `${email} (not ASCII: ${characters.join(' ')})` : email
}
