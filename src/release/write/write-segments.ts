import type { Connection } from '../../platform/database/connection.js'
import { idsOfBlock, inBlocks } from '../bytes/blocks.js'
import { BlockStart, type TextsOfFiles } from '../bytes/texts.js'
import type { Writing } from '../folder/draft.js'
import type { PlacedBlock } from '../folder/layers.js'
import type { PlannedFile, SegmentContent } from '../plan/planned-file.js'
import { type ActivityBlock, activityBlocks, copyBlocks, spreadOfActivities } from '../sql/renderings.js'
import type { Build } from './build.js'

/** Writes a segment that was prepared. */
export type SegmentWriter = (path: string, content: SegmentContent) => Promise<Writing>

/**
 * Prepares segments to be written. Where there are several, the blocks of a segment that the live release has are served from
 * there; all others together are one layer, which is written here. Other segments are files of their own.
 */
export async function prepareSegments(build: Build, files: readonly PlannedFile[]): Promise<SegmentWriter> {
  const { draft, live, run, snapshot, store, signal } = build
  const segments = files.flatMap(({ path, content }) => (content.kind === 'segment' ? [{ path, content }] : []))
  const spread = await spreadOfActivities(snapshot.db)
  const ids = idsOfBlock(spread.count, spread.ids)
  const numbers = segments.map(({ content }) => content.segment)
  const blocks = await activityBlocks(snapshot.db, numbers, ids)
  await store.readAlone(snapshot.db)
  const bySegment = new Map<number, ActivityBlock[]>()
  for (const block of blocks) {
    const own = bySegment.get(block.segment) ?? []
    bySegment.set(block.segment, own)
    own.push(block)
  }
  const known = new Map<number, ReadonlyMap<string, PlacedBlock>>()
  const missing: ActivityBlock[] = []
  for (const { path, content } of segments) {
    if (!live || run.force || content.isAlone) continue
    const own = bySegment.get(content.segment) ?? []
    const placed = await draft.blocksOf(path, live.id, own)
    if (!placed) continue
    known.set(content.segment, placed)
    missing.push(...own.filter(({ fingerprint }) => !placed.has(fingerprint)))
  }
  const read = (wanted: readonly ActivityBlock[]) => textsOfBlocks(snapshot.client, ids, wanted)
  const [layer] = missing.length > 0 ? await draft.writeLayers(['/iati/activities'], read(missing), signal) : []
  return async (path, { segment, envelope }) => {
    const own = bySegment.get(segment) ?? []
    const placed = known.get(segment)
    if (!placed) {
      const [writing] = await draft.writeTogether([{ path, envelope }], read(own), signal)
      return writing
    }
    const places = own.flatMap(({ fingerprint }) => placed.get(fingerprint) ?? layer?.get(fingerprint) ?? [])
    if (places.length < own.length) throw new Error(`${path} lacks blocks that were written`)
    return await draft.joinBlocks(path, places, signal, { envelope, from: live?.id })
  }
}

const lineBreak = Buffer.from('\n')

/**
 * The activities of these blocks, each on a line of its own.
 *
 * @internal
 */
export function textsOfBlocks(client: Connection, ids: number, blocks: readonly ActivityBlock[]): TextsOfFiles {
  const nameOf = (segment: number, number: number) => `${segment} ${number}`
  const starts = new Map(
    blocks.map(({ segment, number, fingerprint }) => [nameOf(segment, number), new BlockStart([fingerprint])]),
  )
  return inBlocks(
    copyBlocks(client, ids, blocks),
    ([segment, number]) =>
      segment && number && starts.get(nameOf(segment.readInt32BE(0), Number(number.readBigInt64BE(0)))),
    ([, , text]) => [text ? [text, lineBreak] : []],
  )
}
