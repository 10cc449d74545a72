import type { NoticeSummary } from '../domain/notice.js'
import type { Connection } from '../store/connection.js'

/**
 * One file of the release to be. `content` is not asked for when the live release has the same fingerprint; it is the
 * address of an earlier dataset of this release when the bytes are the same.
 */
export type Dataset = {
  readonly path: string
  readonly mediaType: string
  readonly records: number
  readonly fingerprint: string
  readonly notices: NoticeSummary
  readonly content: string | ((sources: DatasetSources) => AsyncIterable<Buffer>)
}

/** What a file is made of: the run's snapshot of the store, and where earlier files of the same draft are. */
export type DatasetSources = { readonly client: Connection; readonly locate: (address: string) => string }

/** The summary of a file that is never the subject of notices. */
export const noNotices: NoticeSummary = { errors: 0, warnings: 0, infos: 0, byCode: {} }
