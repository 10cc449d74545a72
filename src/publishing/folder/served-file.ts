import path from 'node:path'
import type { WrittenFile } from '../files/file-writer.js'

/** A part of a file on disk. */
export type ByteRange = { readonly path: string; readonly offset: number; readonly length: number }

/** What a response about a published file needs, for HEAD and GET alike. */
export type ServedFile = {
  readonly mediaType: string
  /** Of the identity bytes, hex. */
  readonly sha256: string
  readonly lastModified: Date
  readonly identity: ByteRange
  /** Absent where the file is small enough to be compressed while it is sent, or is compressed itself. */
  readonly gzip?: ByteRange
}

/** The file at an address of a directory, with its gzip twin. */
export function toServedFile(
  directory: string,
  address: string,
  { mediaType, lastModified, sha256, bytes, gzipBytes }: WrittenFile & { mediaType: string; lastModified: string },
): ServedFile {
  const place = path.join(directory, address)
  return {
    ...{ mediaType, sha256, lastModified: new Date(lastModified) },
    identity: { path: place, offset: 0, length: bytes },
    ...(gzipBytes > 0 && { gzip: { path: `${place}.gz`, offset: 0, length: gzipBytes } }),
  }
}

/**
 * How long a copy may be used unasked: `live` addresses are asked for again each time (a 304 costs nothing), `immutable`
 * ones never change.
 */
export const cacheControl = { live: 'public, no-cache', immutable: 'public, max-age=31536000, immutable' } as const
export type FileLifetime = keyof typeof cacheControl
