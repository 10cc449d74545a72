import { hash } from 'node:crypto'
import { segmentAt } from '../../iati/addresses.js'
import { ServiceError } from '../../kernel/errors.js'
import type { CarriedIdentifier } from '../sql/published-identifiers.js'
import { ActivityIndex } from './activity-index.js'
import type { ReadableRelease } from './release-reader.js'

/** One activity of a published file; `hash` leaves out `last-updated-datetime`. */
export type PublishedActivity = {
  readonly identifier: string
  readonly projectId: number
  readonly hash: string
  /** The place of `text` in the file, in bytes. */
  readonly offset: number
  readonly length: number
  readonly text: string
}

const openTag = Buffer.from('<iati-activity ')
const closeTag = Buffer.from('</iati-activity>')
// A registered file is smaller than this (iati.md 15.1), so every activity is.
const maxActivityBytes = 64_000_000

/** Paths of the files of activities in a release. */
export function activityFiles(release: ReadableRelease): string[] {
  return release.manifest.files.map(({ path }) => path).filter((path) => /^\/iati\/activities(-\d+)?\.xml$/.test(path))
}

/** The activities of a file of a release, none when it has no such file; as `activitiesIn`. */
export async function* activitiesOf(release: ReadableRelease, path: string): AsyncGenerator<PublishedActivity> {
  const file = await release.find(path)
  if (!file) return
  // The index has the identifier with its white space folded, and the number, which a moved activity does not state.
  const index = await ActivityIndex.read(release)
  let row = index?.rowsOf(path).from ?? 0
  for await (const activity of activitiesIn(file.identity.chunks(), path)) {
    if (!index) yield activity
    else {
      const { identifier, project: projectId } = index.entry(row++)
      yield { ...activity, identifier, projectId }
    }
  }
}

/**
 * The activities of one of our own files in project order, one in memory at a time; `name` is for errors. Our writer escapes every angle bracket
 * in text, so the tags can be searched for. Throws `release-corrupt`.
 */
async function* activitiesIn(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<PublishedActivity> {
  let pending: Buffer = Buffer.alloc(0)
  let pendingOffset = 0
  for await (const chunk of chunks) {
    pending = Buffer.concat([pending, chunk])
    let from = 0
    for (;;) {
      const start = pending.indexOf(openTag, from)
      const tagAt = start < 0 ? -1 : pending.indexOf(closeTag, start)
      if (tagAt < 0) break
      const end = tagAt + closeTag.length
      yield toActivity(pending.subarray(start, end), pendingOffset + start, name)
      from = end
    }
    pending = pending.subarray(from)
    pendingOffset += from
    if (pending.length > maxActivityBytes) throw corrupt(name, 'an activity has no end')
  }
}

function toActivity(bytes: Buffer, offset: number, file: string): PublishedActivity {
  const text = bytes.toString('utf8')
  const [, identifier] = /<iati-identifier>([^<]+)<\/iati-identifier>/.exec(text) ?? []
  // Only releases of earlier versions have no index: in these the platform's own number stands beside a foreign identifier.
  const [, projectId] = /<other-identifier ref="(\d+)" type="A1"/.exec(text) ?? /(\d+)$/.exec(identifier ?? '') ?? []
  if (identifier === undefined) throw corrupt(file, 'an activity has no identifier')
  const undated = text.replace(/ last-updated-datetime="[^"]*"/, '')
  const sha256 = hash('sha256', undated, 'base64url')
  return { identifier, projectId: Number(projectId ?? 0), hash: sha256, offset, length: bytes.length, text }
}

function corrupt(file: string, reason: string): ServiceError {
  return new ServiceError('release-corrupt', `${file} cannot be read: ${reason}`)
}

/** All identifiers of a release with their segment, in batches. */
export async function* identifiersOf(release: ReadableRelease): AsyncGenerator<CarriedIdentifier[]> {
  let batch: CarriedIdentifier[] = []
  for (const path of activityFiles(release)) {
    const segment = segmentAt(path)
    for await (const { identifier, projectId } of activitiesOf(release, path)) {
      if (batch.push({ identifier, projectId, segment }) < 1000) continue
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
