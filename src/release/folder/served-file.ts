import { join } from 'node:path'
import type { WrittenFile } from '../bytes/file-writer.js'
import { Body } from './body.js'
import { type JoinedFile, joinedBody } from './joined-file.js'

/** What a response about a published file needs, for HEAD and GET alike. */
export type ServedFile = {
  readonly mediaType: string
  /** Of the identity bytes, hex. */
  readonly sha256: string
  readonly lastModified: Date
  readonly identity: Body
  /** Absent where the file is small enough to be compressed while it is sent, or is compressed itself. */
  readonly gzip?: Body
}

/** The file at a path of a release folder, with its gzip twin; `joined` where its bytes lie in other files. */
export function toServedFile(
  directory: string,
  path: string,
  { mediaType, lastModified, sha256, bytes, gzipBytes }: WrittenFile & { mediaType: string; lastModified: string },
  joined: JoinedFile | undefined,
): ServedFile {
  const place = join(directory, path)
  const gzip = joined
    ? joinedBody(directory, joined.gzip)
    : new Body([{ path: `${place}.gz`, offset: 0, length: gzipBytes }])
  return {
    ...{ mediaType, sha256, lastModified: new Date(lastModified) },
    identity: joined ? joinedBody(directory, joined.identity) : new Body([{ path: place, offset: 0, length: bytes }]),
    ...(gzipBytes > 0 && { gzip }),
  }
}

/** How long a copy may be used unasked: of `live` paths not at all (a 304 costs nothing), `immutable` ones for ever. */
export const cacheControl = { live: 'public, no-cache', immutable: 'public, max-age=31536000, immutable' } as const
export type FileLifetime = keyof typeof cacheControl
