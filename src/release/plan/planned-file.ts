import type { TableFormat } from '../../iati/addresses.js'
import type { Table } from '../../iati/tables/tables.js'
import type { NoticeSummary } from '../../kernel/notice.js'
import type { Connection, Db } from '../../platform/database/connection.js'
import type { FileEnvelope } from '../bytes/file-writer.js'
import type { Texts } from '../bytes/texts.js'

/** One unchanging view of the store, and its connection for COPY. */
export type Snapshot = { readonly db: Db; readonly client: Connection; readonly signal?: AbortSignal }

/** A file that a release will have. `content` is not read when the live release has the same fingerprint. */
export type PlannedFile = {
  readonly path: string
  readonly mediaType: string
  readonly records: number
  readonly fingerprint: string
  readonly notices: NoticeSummary
  readonly content: PlannedContent
}

/**
 * The content of a file: texts from the run's snapshot of the store, the activities of a segment, the bytes of an earlier file
 * of this release, the records of earlier files one after the other, the index of their activities, or a table, joined from
 * sections.
 */
export type PlannedContent =
  | { readonly kind: 'texts'; readonly envelope?: FileEnvelope; readonly texts: (client: Connection) => Texts }
  | SegmentContent
  | { readonly kind: 'same'; readonly as: string }
  | {
      readonly kind: 'joined'
      readonly parts: readonly string[]
      readonly envelope: FileEnvelope
      readonly envelopeOfParts?: FileEnvelope
    }
  | ({ readonly kind: 'index' } & IndexContent)
  | TableContent

/** The activities of a segment; `isAlone`: there is no other. */
export type SegmentContent = {
  readonly kind: 'segment'
  readonly segment: number
  readonly envelope: FileEnvelope
  readonly isAlone: boolean
}

/** Files of activities, with what names their content, and their envelope. */
export type IndexContent = {
  readonly files: readonly { readonly path: string; readonly fingerprint: string }[]
  readonly envelope: FileEnvelope
}

export type TableContent = {
  readonly kind: 'table'
  readonly table: Table
  readonly format: TableFormat
  readonly sections: readonly TableSection[]
}

/** The rows of a table in the segments `first` to `last`, a file at a path of its own. */
export type TableSection = {
  readonly first: number
  readonly last: number
  readonly path: string
  readonly fingerprint: string
}
