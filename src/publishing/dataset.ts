import type { NoticeSummary } from '../domain/notice.js'
import type { Connection } from '../store/connection.js'

/** One file of the release to be: `chunks` is not asked for when the live release has the same fingerprint. */
export type Dataset = {
  readonly path: string
  readonly mediaType: string
  readonly records: number
  readonly fingerprint: string
  readonly notices: NoticeSummary
  readonly chunks: (client: Connection) => AsyncIterable<Buffer>
}

/** The summary of a file that is never the subject of notices. */
export const noNotices: NoticeSummary = { errors: 0, warnings: 0, infos: 0, byCode: {} }
