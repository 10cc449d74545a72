/** What an operator signs in to the console with, and whether it may import files and see donors. */
export type OperatorToken = {
  readonly name: string
  readonly token: string
  readonly mayImport: boolean
  readonly seesDonors: boolean
}

/**
 * Reads `NAME:TOKEN` separated by commas, where a name may be followed by its rights, `+import` and `+donors`; says what was
 * expected of a text that is not that.
 */
export function parseOperatorTokens(
  raw: string,
): { readonly value: readonly OperatorToken[] } | { readonly expected: string } {
  const tokens = raw.split(',').map((part) => {
    const [, name = '', rights = '', token = ''] =
      /^([\w.-]{1,40})((?:\+import)?(?:\+donors)?|\+donors\+import):(\S{16,200})$/.exec(part.trim()) ?? []
    return { name, token, mayImport: rights.includes('+import'), seesDonors: rights.includes('+donors') }
  })
  const names = new Set(tokens.map(({ name }) => name))
  return names.size === tokens.length && !names.has('')
    ? { value: tokens }
    : {
        expected:
          'names and tokens such as ana:TOKEN, ana+import:TOKEN or ana+donors:TOKEN, separated by commas; tokens of at least 16 characters',
      }
}
