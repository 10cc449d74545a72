import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'
import parseRange from 'range-parser'

/** The validators of one file: the tags of its identity and gzip bytes, and their first publication. */
export type Validators = { readonly identityTag: string; readonly gzipTag: string; readonly lastModified: string }

export function validatorsOf(file: { readonly sha256: string; readonly lastModified: Date }): Validators {
  return {
    identityTag: `"${file.sha256}"`,
    gzipTag: `"${file.sha256}-gz"`,
    lastModified: file.lastModified.toUTCString(),
  }
}

/**
 * Whether the client has these bytes (RFC 9110 13.1): `If-None-Match` with either tag, else `If-Modified-Since`. A request's
 * `Cache-Control: no-cache` asks for this very check; it is hidden from `fresh`, which would return false.
 */
export function isUnchanged(
  headers: IncomingHttpHeaders,
  validators: Pick<Validators, 'identityTag' | 'gzipTag'> & Partial<Validators>,
): boolean {
  const conditions = {
    'if-none-match': headers['if-none-match']?.trim(),
    'if-modified-since': headers['if-modified-since'],
  }
  return [validators.identityTag, validators.gzipTag].some((etag) =>
    fresh(conditions, { etag, 'last-modified': validators.lastModified }),
  )
}

/**
 * Whether the client asks for other bytes than these (RFC 9110 13.1.1 and 13.1.4): `If-Match` without the tag of what would
 * be sent, compared strongly, else an `If-Unmodified-Since` that has passed.
 */
export function isChanged(headers: IncomingHttpHeaders, tag: string, lastModified: string): boolean {
  const wanted = headers['if-match']?.trim()
  if (wanted !== undefined) return wanted !== '*' && !wanted.split(',').some((one) => one.trim() === tag)
  return Date.parse(lastModified) > Date.parse(headers['if-unmodified-since'] ?? '')
}

export type WantedRange = { readonly start: number; readonly end: number }

/**
 * The requested part of `size` identity bytes, `end` inclusive. Undefined means all of them (no range, several, an unknown
 * unit, or an `If-Range` that does not hold), `unsatisfiable` means 416.
 */
export function wantedRange(
  headers: IncomingHttpHeaders,
  size: number,
  validators: Validators,
): WantedRange | 'unsatisfiable' | undefined {
  if (headers.range === undefined || !rangeHolds(headers['if-range'], validators)) return undefined
  const suffix = /^bytes=\s*-(\d+)\s*$/.exec(headers.range)?.[1]
  // RFC 9110 14.1.2: of a file that is shorter, a suffix is the whole.
  if (suffix !== undefined && size > 0 && Number(suffix) > size) return { start: 0, end: size - 1 }
  const ranges = parseRange(size, headers.range)
  if (ranges === -1) return headers.range.startsWith('bytes=') ? 'unsatisfiable' : undefined
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined
  return ranges[0]
}

// RFC 9110 13.1.5: a strong comparison, so a weak tag never holds, and a date must be exactly the file's.
function rangeHolds(ifRange: string | string[] | undefined, { identityTag, lastModified }: Validators): boolean {
  if (ifRange === undefined) return true
  if (typeof ifRange !== 'string') return false
  const condition = ifRange.trim()
  return condition === identityTag || Date.parse(condition) === Date.parse(lastModified)
}
