import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IsoInstant } from '../domain/dates.js'
import type { NoticeSummary } from '../domain/notice.js'
import { bulkActivitiesPath } from '../feeds/addresses.js'
import { iatiEnvelope } from '../feeds/iati/envelope.js'
import type { Dataset } from './dataset.js'

/**
 * The unsegmented copy of the activity files, in their order (architecture 2.6): the only file itself where there is one,
 * else their records in one envelope, read from the draft so that the store sends each text once.
 */
export function bulkActivities(segments: readonly Dataset[], generated: IsoInstant): Dataset {
  const [first] = segments
  if (!first) throw new Error('a release has at least one activity file')
  const bulk = { path: bulkActivitiesPath, mediaType: first.mediaType }
  if (segments.length === 1) {
    return {
      ...bulk,
      records: first.records,
      fingerprint: first.fingerprint,
      notices: first.notices,
      content: first.path,
    }
  }
  const fingerprint = createHash('sha256')
  for (const segment of segments) fingerprint.update(`${segment.path} ${segment.fingerprint}\n`)
  return {
    ...bulk,
    records: segments.reduce((sum, { records }) => sum + records, 0),
    fingerprint: fingerprint.digest('base64'),
    notices: segments.map(({ notices }) => notices).reduce(addNotices),
    content: ({ locate }) =>
      allRecords(
        segments.map(({ path }) => locate(path)),
        generated,
      ),
  }
}

async function* allRecords(files: readonly string[], generated: IsoInstant): AsyncGenerator<Buffer> {
  // An instant has one length: whenever a segment was generated, its envelope takes as many bytes as this one.
  const { head, tail } = iatiEnvelope('iati-activities', generated)
  yield Buffer.from(head)
  for (const file of files) {
    const end = (await stat(file)).size - Buffer.byteLength(tail) - 1
    yield* createReadStream(file, {
      start: Buffer.byteLength(head),
      end,
      highWaterMark: 1 << 20,
    }) as AsyncIterable<Buffer>
  }
  yield Buffer.from(tail)
}

function addNotices(a: NoticeSummary, b: NoticeSummary): NoticeSummary {
  const byCode: Record<string, number> = { ...a.byCode }
  for (const [code, count] of Object.entries(b.byCode)) byCode[code] = (byCode[code] ?? 0) + count
  return { errors: a.errors + b.errors, warnings: a.warnings + b.warnings, infos: a.infos + b.infos, byCode }
}
