// biome-ignore-all lint/suspicious/noControlCharactersInRegex: browsers skip control characters in an address
const scheme = /^([a-z][a-z0-9+.-]*):/i
const allowed: ReadonlySet<string> = new Set(['http', 'https', 'mailto'])

/**
 * The text, unless it is an address with another scheme than http, https and mailto: that is empty, so that no reader's
 * browser runs what stands in it. A text without a scheme, such as `www.example.org`, stays.
 */
export function safeAddress(text: string): string {
  const [, found] = scheme.exec(text.replace(/[\u0000-\u0020\u007F-\u009F]/g, '')) ?? []
  return found === undefined || allowed.has(found.toLowerCase()) ? text : ''
}
