import { activityIndexPath, segmentAt } from '../../iati/addresses.js'
import type { Connection } from '../../platform/database/connection.js'
import type { TextsOfFiles } from '../bytes/texts.js'
import type { Draft, Writing } from '../folder/draft.js'
import type { IndexContent } from '../plan/planned-file.js'
import { indexFormat, MonthSums, placedEntry } from '../read/activity-entry.js'
import { fileEnd, fileStart, indexEnd, indexStart } from '../read/activity-index.js'
import type { ReadableRelease } from '../read/release-reader.js'
import { copyEntries } from '../sql/activity-rows.js'

/**
 * Writes the index of files of activities, joined from a section for each. Sections of files with the same content are
 * carried over from the live release; the others are made from the stored entries of their segments.
 */
export async function writeIndex(
  draft: Draft,
  live: ReadableRelease | undefined,
  client: Connection,
  { files, envelope }: IndexContent,
  signal: AbortSignal,
): Promise<Writing> {
  const sections: string[] = []
  for (const [index, { path, fingerprint }] of files.entries()) {
    const start = `${index === 0 ? '' : ','}\n${fileStart(path)}`
    const section = `${activityIndexPath}.part-${index + 1}`
    sections.push(section)
    const content = `${indexFormat} ${start} ${fingerprint}`
    if (live && (await draft.linkPartFrom(section, content, live.id))) continue
    const texts = sectionTexts(start, copyEntries(client, segmentAt(path)), Buffer.byteLength(envelope.head))
    await draft.writeParts([{ path: section, fingerprint: content }], texts, signal)
  }
  return await draft.join(activityIndexPath, sections, signal, { envelope: { head: indexStart, tail: indexEnd } })
}

/** An entry for each activity of a file, the first of which is at `offset`, then the sums of the file. */
async function* sectionTexts(start: string, entries: AsyncIterable<Buffer[][]>, offset: number): TextsOfFiles {
  yield [[Buffer.from(start)]]
  const months = new MonthSums()
  let [separator, at] = ['\n', offset]
  for await (const rows of entries) {
    const lines: Buffer[] = []
    for (const [entry, bytes] of rows) {
      if (!entry?.length || !bytes) throw new Error('an activity has no entry')
      const length = bytes.readInt32BE(0)
      lines.push(Buffer.from(separator), ...placedEntry(entry, at, length, months))
      // Each activity is on a line of its own.
      at += length + 1
      separator = ',\n'
    }
    yield [lines]
  }
  yield [[Buffer.from(`\n${fileEnd(months)}`)]]
}
