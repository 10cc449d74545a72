import { createReadStream } from 'node:fs'
import { activityIndexPath } from '../../iati/addresses.js'
import type { Texts } from '../bytes/texts.js'
import type { Draft, Writing } from '../folder/draft.js'
import { MonthSums, toEntry } from '../read/activity-entry.js'
import { fileEnd, fileStart, indexEnd, indexFormat, indexStart } from '../read/activity-index.js'
import { activitiesIn } from '../read/release-contents.js'
import type { ReadableRelease } from '../read/release-reader.js'

// Lines that are handed to the file together.
const batchLines = 256

/** A file of activities, with what names its content. */
export type IndexedFile = { readonly path: string; readonly fingerprint: string }

/**
 * Writes the index of these files of a draft, joined from a section for each. Sections of files with the same content are
 * carried over from the live release; the others are made from the files.
 */
export async function writeIndex(
  draft: Draft,
  live: ReadableRelease | undefined,
  files: readonly IndexedFile[],
  signal: AbortSignal,
): Promise<Writing> {
  const sections: string[] = []
  for (const [index, { path, fingerprint }] of files.entries()) {
    const start = `${index === 0 ? '' : ','}\n${fileStart(path)}`
    const section = `${activityIndexPath}.part-${index + 1}`
    sections.push(section)
    const content = `${indexFormat} ${start} ${fingerprint}`
    if (live && (await draft.linkPartFrom(section, content, live.id))) continue
    // Its last bytes may still be in memory.
    await draft.written([path])
    await draft.write(section, sectionTexts(start, draft.locate(path)), signal, { fingerprint: content })
  }
  return await draft.join(activityIndexPath, sections, signal, { envelope: { head: indexStart, tail: indexEnd } })
}

async function* sectionTexts(start: string, file: string): Texts {
  yield [Buffer.from(start)]
  for await (const lines of inBatches(linesAbout(file))) yield [Buffer.from(`\n${lines.join('\n')}`)]
}

/** An entry for each activity of a file, then the sums of the file. */
async function* linesAbout(file: string): AsyncGenerator<string> {
  const months = new MonthSums()
  let line: string | undefined
  for await (const activity of activitiesIn(
    createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>,
    file,
  )) {
    if (line !== undefined) yield `${line},`
    line = JSON.stringify(toEntry(activity, months))
  }
  if (line !== undefined) yield line
  yield fileEnd(months)
}

async function* inBatches(lines: AsyncGenerator<string>): AsyncGenerator<string[]> {
  let batch: string[] = []
  for await (const line of lines) {
    if (batch.push(line) < batchLines) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
