/**
 * The text where it is an http, https or mailto address, else empty: no reader's browser runs what stands in it, and no client links
 * to a place of its own.
 */
export function safeAddress(text: string): string {
  return /^(https?:\/\/[^/]|mailto:[^/])/i.test(text) ? text : ''
}
