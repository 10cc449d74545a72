// Addresses that parsing would return as they are: a host name of ASCII labels that is no number and no punycode, no port,
// a path without dot segments, only characters that stay as they are. Parsing takes longer than all else in a link.
const canonical =
  /^https?:\/\/(?![^/]*xn--)(?!.*\/\.)(?:[a-z0-9-]+\.)+[a-z]{2,}\/[A-Za-z0-9\-._~:/@!$()*+,;=%]*(?:\?[A-Za-z0-9\-._~:/@!$()*+,;=%?]*)?$/

/**
 * The address percent-encoded and absolute; undefined when it is not an absolute http or https address (relative ones
 * pass the official schema, iati.md 10.1).
 */
export function absoluteUrl(text: string): string | undefined {
  if (canonical.test(text)) return text
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '' ? url.href : undefined
}
