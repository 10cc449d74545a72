/** What an operator signs in to the console with, and whether files may be imported with it. */
export type OperatorToken = { readonly name: string; readonly token: string; readonly mayImport: boolean }

/** Reads `NAME:TOKEN` or `NAME+import:TOKEN` separated by commas; says what was expected of a text that is not that. */
export function parseOperatorTokens(
  raw: string,
): { readonly value: readonly OperatorToken[] } | { readonly expected: string } {
  const tokens = raw.split(',').map((part) => {
    const [, name = '', right, token = ''] = /^([\w.-]{1,40})(\+import)?:(\S{16,200})$/.exec(part.trim()) ?? []
    return { name, token, mayImport: right !== undefined }
  })
  const names = new Set(tokens.map(({ name }) => name))
  return names.size === tokens.length && !names.has('')
    ? { value: tokens }
    : {
        expected:
          'names and tokens such as ana:TOKEN or ana+import:TOKEN, separated by commas; tokens of at least 16 characters',
      }
}
