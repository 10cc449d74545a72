import { createHash } from 'node:crypto'
import { activityIndexPath, bulkActivitiesPath } from '../../iati/addresses.js'
import { addSummaries, noNotices } from '../../kernel/notice.js'
import type { FileEnvelope } from '../bytes/file-writer.js'
import { indexFormat } from '../read/activity-entry.js'
import type { PlannedFile } from './planned-file.js'

/**
 * All activities in one file (iati.md 1.4) of that envelope. One activity file is published a second time under this path; of
 * several, the records are served from their files. Without activities there is no file: the schema wants at least one in it.
 */
export function bulkActivities(segments: readonly PlannedFile[], envelope: FileEnvelope): PlannedFile[] {
  const [first] = segments
  if (!first) return []
  const bulk = { path: bulkActivitiesPath, mediaType: first.mediaType }
  if (segments.length === 1) return [{ ...first, ...bulk, content: { kind: 'same', as: first.path } }]
  const parts = segments.map(({ path }) => path)
  return [
    {
      ...{ ...bulk, ...ofAll(segments), notices: segments.map(({ notices }) => notices).reduce(addSummaries) },
      content: { kind: 'joined', parts, envelope, envelopeOfParts: envelope },
    },
  ]
}

/** The index of all activities (iati.md 1.5) in files of that envelope; while no file of activities changes, it is carried over. */
export function activityIndex(segments: readonly PlannedFile[], envelope: FileEnvelope): PlannedFile {
  return {
    ...{ path: activityIndexPath, mediaType: 'application/json; charset=utf-8', notices: noNotices },
    ...ofAll(segments, `index ${indexFormat}\n`),
    content: { kind: 'index', files: segments, envelope },
  }
}

function ofAll(segments: readonly PlannedFile[], form = ''): Pick<PlannedFile, 'records' | 'fingerprint'> {
  const fingerprint = createHash('sha256').update(form)
  for (const segment of segments) fingerprint.update(`${segment.path} ${segment.fingerprint}\n`)
  const records = segments.reduce((sum, one) => sum + one.records, 0)
  return { records, fingerprint: fingerprint.digest('base64') }
}
