import { createHash } from 'node:crypto'
import type { IsoInstant } from '../../../domain/dates.js'
import type { NoticeSummary } from '../../../domain/notice.js'
import { bulkActivitiesPath } from '../../../feeds/addresses.js'
import type { Dataset } from './dataset.js'
import { stampedEnvelope } from './stamped-envelope.js'

/**
 * The unsegmented copy of the activity files, in their order (iati.md 1.4): the only file itself where there is one,
 * else their records in one envelope, copied from the files of the draft, whose twins need not be compressed again.
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
      content: { kind: 'same', as: first.path },
    }
  }
  const fingerprint = createHash('sha256')
  for (const segment of segments) fingerprint.update(`${segment.path} ${segment.fingerprint}\n`)
  return {
    ...bulk,
    records: segments.reduce((sum, { records }) => sum + records, 0),
    fingerprint: fingerprint.digest('base64'),
    notices: segments.map(({ notices }) => notices).reduce(addNotices),
    content: {
      kind: 'joined',
      envelope: stampedEnvelope('iati-activities', generated),
      parts: segments.map(({ path }) => path),
    },
  }
}

function addNotices(a: NoticeSummary, b: NoticeSummary): NoticeSummary {
  const byCode: Record<string, number> = { ...a.byCode }
  for (const [code, count] of Object.entries(b.byCode)) byCode[code] = (byCode[code] ?? 0) + count
  return { errors: a.errors + b.errors, warnings: a.warnings + b.warnings, infos: a.infos + b.infos, byCode }
}
