import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { projectFeedPath } from '../../iati/addresses.js'
import { isoInstantOf } from '../../kernel/dates.js'

/**
 * The feeds of all projects are one file beside an index of fixed-size entries in project order (docs/adr/0003). An entry is project id (8 bytes), offset (8),
 * length (4), Atom entries (4), last modified in epoch seconds (8) and SHA-256 (32), numbers big-endian.
 */
const entryBytes = 64

/** Inside a release directory. */
export const packPath = '/feeds/projects/reports.pack'
export const packIndexPath = '/feeds/projects/reports.idx'

/** One feed as it goes into the pack. */
export type PackedFeed = {
  readonly projectId: number
  readonly text: Buffer
  readonly entries: number
  /** Epoch seconds. */
  readonly changedAt: number
}

/** The place of a packed feed, and what a response about it needs. */
export type PackEntry = {
  readonly offset: number
  readonly length: number
  readonly lastModified: Date
  readonly sha256: string
}

/** The feeds as batches of bytes for the pack and for the binary index. */
export async function* packFeeds(
  feeds: AsyncIterable<readonly PackedFeed[]>,
): AsyncGenerator<readonly [pack: readonly Buffer[], index: readonly Buffer[]]> {
  let offset = 0
  for await (const batch of feeds) {
    const entries = Buffer.alloc(entryBytes * batch.length)
    batch.forEach((feed, index) => {
      const at = index * entryBytes
      entries.writeBigUInt64BE(BigInt(feed.projectId), at)
      entries.writeBigUInt64BE(BigInt(offset), at + 8)
      entries.writeUInt32BE(feed.text.length, at + 16)
      entries.writeUInt32BE(feed.entries, at + 20)
      entries.writeBigUInt64BE(BigInt(feed.changedAt), at + 24)
      hash('sha256', feed.text, 'buffer').copy(entries, at + 32)
      offset += feed.text.length
    })
    yield [batch.map(({ text }) => text), [entries]]
  }
}

/** The public listing of a pack, a JSON array with a line per feed, made from its binary index. */
export async function* listPackedFeeds(indexPath: string): AsyncGenerator<readonly Buffer[]> {
  yield [Buffer.from('[')]
  let first = true
  // A multiple of the entry size, so that no entry is cut.
  for await (const chunk of createReadStream(indexPath, {
    highWaterMark: entryBytes * 1024,
  }) as AsyncIterable<Buffer>) {
    let lines = ''
    for (let at = 0; at < chunk.length; at += entryBytes) {
      lines += `${first ? '' : ','}\n${listingLine(chunk.subarray(at, at + entryBytes))}`
      first = false
    }
    yield [Buffer.from(lines)]
  }
  yield [Buffer.from('\n]\n')]
}

function listingLine(entry: Buffer): string {
  const { projectId, length, entries, lastModified, sha256 } = readEntry(entry)
  return JSON.stringify({
    path: projectFeedPath(projectId),
    records: entries,
    bytes: length,
    sha256,
    lastModified: isoInstantOf(lastModified),
  })
}

function readEntry(entry: Buffer): PackEntry & { projectId: number; entries: number } {
  return {
    projectId: Number(entry.readBigUInt64BE(0)),
    offset: Number(entry.readBigUInt64BE(8)),
    length: entry.readUInt32BE(16),
    entries: entry.readUInt32BE(20),
    lastModified: new Date(Number(entry.readBigUInt64BE(24)) * 1000),
    sha256: entry.subarray(32, entryBytes).toString('hex'),
  }
}

/** Finds a project's feed in the pack of a release directory, by binary search; undefined when it has none. */
export async function findPackedFeed(releaseDir: string, projectId: number): Promise<PackEntry | undefined> {
  const handle = await open(join(releaseDir, packIndexPath), 'r')
  try {
    const { size } = await handle.stat()
    const entry = Buffer.alloc(entryBytes)
    let low = 0
    let high = Math.floor(size / entryBytes) - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      await handle.read(entry, 0, entryBytes, middle * entryBytes)
      const found = readEntry(entry)
      if (found.projectId === projectId) return found
      if (found.projectId < projectId) low = middle + 1
      else high = middle - 1
    }
    return undefined
  } finally {
    await handle.close()
  }
}
