import { createHash } from 'node:crypto'
import { bulkActivitiesPath } from '../../iati/addresses.js'
import type { IsoInstant } from '../../kernel/dates.js'
import { addSummaries } from '../../kernel/notice.js'
import type { PlannedFile } from './planned-file.js'
import { stampedEnvelope } from './stamped-envelope.js'

/**
 * All activities in one file (iati.md 1.4). One activity file is published a second time under this path; of several,
 * the records are served from their files. Without activities there is no file: the schema wants at least one in it.
 */
export function bulkActivities(segments: readonly PlannedFile[], generated: IsoInstant): PlannedFile[] {
  const [first] = segments
  if (!first) return []
  const bulk = { path: bulkActivitiesPath, mediaType: first.mediaType }
  if (segments.length === 1) return [{ ...first, ...bulk, content: { kind: 'same', as: first.path } }]
  const envelope = stampedEnvelope('iati-activities', generated)
  const fingerprint = createHash('sha256')
  for (const segment of segments) fingerprint.update(`${segment.path} ${segment.fingerprint}\n`)
  return [
    {
      ...bulk,
      records: segments.reduce((sum, { records }) => sum + records, 0),
      fingerprint: fingerprint.digest('base64'),
      notices: segments.map(({ notices }) => notices).reduce(addSummaries),
      content: { kind: 'joined', parts: segments.map(({ path }) => path), envelope, envelopeOfParts: envelope },
    },
  ]
}
