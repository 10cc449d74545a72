import { createReadStream } from 'node:fs'
import { activityIndexPath } from '../../../feeds/addresses.js'
import type { Texts } from '../../files/texts.js'
import type { Draft } from '../../folder/draft.js'
import { MonthSums, toEntry } from '../read/activity-entry.js'
import { fileEnd, fileStart, indexEnd, indexStart } from '../read/activity-index.js'
import { linesOf } from '../read/lines-of.js'
import { activitiesIn } from '../read/release-contents.js'
import type { ReadableRelease } from '../read/release-reader.js'

// Lines that are handed to the file together.
const batchLines = 256

/**
 * The index of the files of activities of a draft. Lines about a file that was carried over from the live release are copied
 * from that release's index; the others are made from the file.
 */
export async function* indexTexts(
  draft: Draft,
  live: ReadableRelease | undefined,
  parts: readonly { readonly path: string; readonly isCarried: boolean }[],
): Texts {
  const before = await live?.find(activityIndexPath)
  const sections = before && new IndexSections(before.identity.chunks())
  try {
    yield [Buffer.from(indexStart)]
    for (const [index, { path, isCarried }] of parts.entries()) {
      yield [Buffer.from(`${index === 0 ? '' : ','}\n${fileStart(path)}`)]
      const copied = isCarried && sections && (await sections.find(path))
      for await (const lines of inBatches(copied ? sections.lines() : linesAbout(draft.locate(path)))) {
        yield [Buffer.from(`\n${lines.join('\n')}`)]
      }
    }
    yield [Buffer.from(indexEnd)]
  } finally {
    await sections?.close()
  }
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

/** The sections of an index in their order, read once. */
class IndexSections {
  readonly #lines: AsyncGenerator<string>

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#lines = linesOf(chunks)
  }

  /** Moves to the section of a file; false when the index has none behind the last one. */
  async find(path: string): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#lines.next()
      // An index of another format says something else of the same activities.
      if (done || (value.startsWith('{"format":') && value !== indexStart)) return false
      if (value === fileStart(path)) return true
    }
  }

  /** The lines of the section up to its end. */
  async *lines(): AsyncGenerator<string> {
    for (;;) {
      const { done, value } = await this.#lines.next()
      if (done) throw new Error('the index of the live release ends within a file')
      const isEnd = value.startsWith(']')
      // The comma between files is written before the next one.
      yield isEnd && value.endsWith(',') ? value.slice(0, -1) : value
      if (isEnd) return
    }
  }

  async close(): Promise<void> {
    await this.#lines.return(undefined)
  }
}
