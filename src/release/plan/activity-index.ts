import { createHash } from 'node:crypto'
import { activityIndexPath } from '../../iati/addresses.js'
import { noNotices } from '../../kernel/notice.js'
import type { FileEnvelope } from '../bytes/file-writer.js'
import { indexFormat } from '../read/activity-entry.js'
import type { PlannedFile } from './planned-file.js'

/** The index of all activities (iati.md 1.5) in files of that envelope; while no file of activities changes, it is carried over. */
export function activityIndex(segments: readonly PlannedFile[], envelope: FileEnvelope): PlannedFile {
  const fingerprint = createHash('sha256').update(`index ${indexFormat}\n`)
  for (const segment of segments) fingerprint.update(`${segment.path} ${segment.fingerprint}\n`)
  return {
    path: activityIndexPath,
    mediaType: 'application/json; charset=utf-8',
    records: segments.reduce((sum, { records }) => sum + records, 0),
    fingerprint: fingerprint.digest('base64'),
    notices: noNotices,
    content: { kind: 'index', files: segments, envelope },
  }
}
