import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { ServiceError } from '../../../domain/errors.js'
import type { CarriedIdentifier } from '../../../store/publication/published-identifiers.js'
import type { ReadableRelease } from './release-reader.js'

/** One activity of a published file: its identifier, and a hash of everything but `last-updated-datetime`. */
export type PublishedActivity = { readonly identifier: string; readonly projectId: number; readonly hash: string }

const openTag = Buffer.from('<iati-activity ')
const closeTag = Buffer.from('</iati-activity>')
// A registered file is smaller than this (iati.md 15.1), so every activity is.
const maxActivityBytes = 64_000_000

/** Addresses of the files of activities in a release. */
export function activityFiles(release: ReadableRelease): string[] {
  return release.manifest.files.map(({ path }) => path).filter((path) => /^\/iati\/activities(-\d+)?\.xml$/.test(path))
}

/**
 * The activities of one of our own files in project order, one in memory at a time. Our writer escapes every angle bracket
 * in text, so the tags can be searched for. Throws `release-corrupt`.
 */
export async function* activitiesOf(release: ReadableRelease, address: string): AsyncGenerator<PublishedActivity> {
  const file = await release.find(address)
  if (!file) return
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(file.identity.path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    pending = Buffer.concat([pending, chunk])
    let from = 0
    for (;;) {
      const start = pending.indexOf(openTag, from)
      const end = start < 0 ? -1 : pending.indexOf(closeTag, start)
      if (end < 0) break
      yield toActivity(pending.subarray(start, end).toString('utf8'), file.identity.path)
      from = end + closeTag.length
    }
    pending = pending.subarray(from)
    if (pending.length > maxActivityBytes) throw corrupt(file.identity.path, 'an activity has no end')
  }
}

function toActivity(text: string, path: string): PublishedActivity {
  const [, identifier] = /<iati-identifier>([^<]+)<\/iati-identifier>/.exec(text) ?? []
  const [, projectId] = /(\d+)$/.exec(identifier ?? '') ?? []
  if (identifier === undefined || projectId === undefined) throw corrupt(path, 'an activity has no identifier')
  const undated = text.replace(/ last-updated-datetime="[^"]*"/, '')
  return { identifier, projectId: Number(projectId), hash: createHash('sha256').update(undated).digest('base64') }
}

function corrupt(path: string, reason: string): ServiceError {
  return new ServiceError('release-corrupt', `${path} cannot be read: ${reason}`)
}

/** All identifiers of a release with their segment, in batches. */
export async function* identifiersOf(release: ReadableRelease): AsyncGenerator<CarriedIdentifier[]> {
  let batch: CarriedIdentifier[] = []
  for (const address of activityFiles(release)) {
    const segment = Number(/-(\d+)\.xml$/.exec(address)?.[1] ?? 1)
    for await (const { identifier, projectId } of activitiesOf(release, address)) {
      if (batch.push({ identifier, projectId, segment }) < 1000) continue
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
