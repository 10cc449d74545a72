import Negotiator from 'negotiator'

export type Encoding = 'gzip' | 'identity'

// An explicit refusal of gzip or of everything: `gzip;q=0`, `*; q=0.0`.
const refusesGzip = /(?:^|,)\s*(?:gzip|\*)\s*;\s*q\s*=\s*0(?:\.0*)?\s*(?=,|$)/i

/**
 * The encoding of the answer (RFC 9110 12.5.3). No header or an empty one means identity, since old archivers send that and
 * do not unpack. A client that refuses identity but does not mention gzip gets gzip; one that refuses both gets identity.
 */
export function preferredEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined || acceptEncoding.trim() === '') return 'identity'
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const [best] = negotiator.encodings(['gzip', 'identity'])
  if (best === 'gzip' || best === 'identity') return best
  return refusesGzip.test(acceptEncoding) ? 'identity' : 'gzip'
}
