import type { NoticeSummary } from '../../../domain/notice.js'
import type { Connection } from '../../../store/database/connection.js'
import type { FileEnvelope } from '../../files/file-writer.js'
import type { Texts } from '../../files/texts.js'

/** One file of the release to be. `content` is not asked for when the live release has the same fingerprint. */
export type Dataset = {
  readonly path: string
  readonly mediaType: string
  readonly records: number
  readonly fingerprint: string
  readonly notices: NoticeSummary
  readonly content: DatasetContent
}

/**
 * What a file consists of: texts from the run's snapshot of the store, the bytes of an earlier dataset of this release,
 * or the records of earlier datasets one after the other.
 */
export type DatasetContent =
  | { readonly kind: 'texts'; readonly envelope?: FileEnvelope; readonly texts: (client: Connection) => Texts }
  | { readonly kind: 'same'; readonly as: string }
  | { readonly kind: 'joined'; readonly envelope: FileEnvelope; readonly parts: readonly string[] }

/** The summary of a file that is never the subject of notices. */
export const noNotices: NoticeSummary = { errors: 0, warnings: 0, infos: 0, byCode: {} }
