import { createHash } from 'node:crypto'
import { feedListPath, reportsArchivePath, reportsFeedPath } from '../../iati/addresses.js'
import { feedListHead, feedListLine, feedListTail } from '../../iati/atom/feed-list.js'
import {
  type FeedConfig,
  recentReportFeed,
  reportArchive,
  titleOfFeed,
  toFeedConfig,
} from '../../iati/atom/report-feed.js'
import { inputKey } from '../../iati/input-key.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { noNotices } from '../../kernel/notice.js'
import { sanitizeReports } from '../../kernel/report-html.js'
import type { Connection, Db } from '../../platform/database/connection.js'
import type { Texts } from '../bytes/texts.js'
import { inOneBatch } from '../bytes/texts.js'
import { copyFeedHeads } from '../sql/renderings.js'
import { archivedReports, currentReports, listReportArchives } from '../sql/report-archives.js'
import type { PlannedFile } from './planned-file.js'

const mediaType = 'application/atom+xml; charset=utf-8'

/**
 * The feed of all reports and its archives (RFC 5005). The fingerprint of an archive comes from the digests of its reports,
 * so that its text is generated only when it changed.
 */
export async function reportFiles(config: MappingConfig, db: Db): Promise<PlannedFile[]> {
  const feedConfig = toFeedConfig(config)
  const archives = await listReportArchives(db)
  const reports = await sanitizeReports(await currentReports(db))
  const feed = recentReportFeed(reports, feedConfig, archives.at(-1)?.archive)
  if (!feed) return []
  const key = inputKey(config)
  return [
    feedFile(reportsFeedPath, feed.entries, [feed.text], () => inOneBatch(feed.text)),
    ...archives.map(({ archive, reports, digest }, index) => {
      const previous = archives[index - 1]?.archive
      const texts = () => archiveText(db, feedConfig, archive, previous)
      return feedFile(reportsArchivePath(archive), reports, [key, digest, archive, previous], texts)
    }),
  ]
}

/** A file of reports; `content` is what its texts follow from. */
function feedFile(
  path: string,
  records: number,
  content: readonly unknown[],
  texts: (connection: Connection) => Texts,
  type = mediaType,
): PlannedFile {
  const fingerprint = createHash('md5').update(content.join(' ')).digest('hex')
  return { path, mediaType: type, records, fingerprint, notices: noNotices, content: { kind: 'texts', texts } }
}

/** The list of all feeds; while no feed of a project changes, it is carried over. */
export function feedList(
  config: MappingConfig,
  feeds: { readonly count: number; readonly fingerprint: string },
  hasReports: boolean,
): PlannedFile[] {
  if (!hasReports) return []
  const feedConfig = toFeedConfig(config)
  const head = feedListHead(feedConfig)
  const texts = (connection: Connection) => feedListTexts(connection, feedConfig, head)
  const content = [head, feeds.fingerprint]
  return [feedFile(feedListPath, feeds.count + 1, content, texts, 'text/x-opml; charset=utf-8')]
}

async function* feedListTexts(connection: Connection, config: FeedConfig, head: string): Texts {
  yield [Buffer.from(head)]
  for await (const rows of copyFeedHeads(connection)) {
    yield rows.map(([id, text]) =>
      Buffer.from(feedListLine(Number(id?.readBigInt64BE(0)), titleOfFeed(String(text)), config)),
    )
  }
  yield [Buffer.from(feedListTail)]
}

async function* archiveText(db: Db, config: FeedConfig, archive: number, previous: number | undefined): Texts {
  const reports = await sanitizeReports(await archivedReports(db, archive))
  const feed = reportArchive(reports, config, archive, previous)
  if (feed) yield [Buffer.from(feed.text)]
}
