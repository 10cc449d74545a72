/** A part of a file on disk. */
export type ByteRange = { readonly path: string; readonly offset: number; readonly length: number }

/** Everything that a response about a published file needs; the same for HEAD and GET. */
export type ServedFile = {
  readonly mediaType: string
  /** Of the identity bytes, hex. */
  readonly sha256: string
  readonly lastModified: Date
  readonly identity: ByteRange
  /** Absent: small enough to be compressed while it is sent. */
  readonly gzip?: ByteRange
}
