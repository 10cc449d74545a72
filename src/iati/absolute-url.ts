// Addresses that URL parsing returns unchanged: a host of ASCII labels (no number, no punycode), no port, no dot segments,
// no character that would be encoded. Parsing costs more than everything else in a link.
const canonical =
  /^https?:\/\/(?![^/]*xn--)(?!.*\/\.)(?:[a-z0-9-]+\.)+[a-z]{2,}\/[A-Za-z0-9\-._~:/@!$()*+,;=%]*(?:\?[A-Za-z0-9\-._~:/@!$()*+,;=%?]*)?$/

/** The address, percent-encoded; undefined for all but absolute http and https addresses (iati.md 10.1). */
export function absoluteUrl(text: string): string | undefined {
  if (canonical.test(text)) return text
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '' ? url.href : undefined
}
