/** A part of a file on disk. */
export type ByteRange = { readonly path: string; readonly offset: number; readonly length: number }

/** What a response about a published file needs, for HEAD and GET alike. */
export type ServedFile = {
  readonly mediaType: string
  /** Of the identity bytes, hex. */
  readonly sha256: string
  readonly lastModified: Date
  readonly identity: ByteRange
  /** Absent where the file is small enough to be compressed while it is sent. */
  readonly gzip?: ByteRange
}
