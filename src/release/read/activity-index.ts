import { setImmediate as nextTurn } from 'node:timers/promises'
import { activityIndexPath } from '../../iati/addresses.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Pause } from '../../kernel/yielder.js'
import type { Body } from '../folder/body.js'
import {
  type ActivityEntry,
  type IndexedActivity,
  indexedElements,
  indexFormat,
  MonthSums,
  type Months,
} from './activity-entry.js'
import { NewestKept } from './newest-kept.js'
import type { ReadableRelease } from './release-reader.js'

// The index is one JSON document with one line for each activity, so that it is written and read line by line.
export const indexStart = `{"format":${indexFormat},"elements":${JSON.stringify(indexedElements)},"files":[`
export const indexEnd = '\n]}\n'

/** The line before the activities of a file. */
export function fileStart(path: string): string {
  return `{"path":${JSON.stringify(path)},"activities":[`
}

/** The line after them. */
export function fileEnd(months: MonthSums): string {
  return `],"months":${JSON.stringify(months)}}`
}

/** The position of an entry among all of its release. */
export type Row = number

type IndexParts = {
  /** Paths of the files with their first row, in order. */
  readonly files: { readonly path: string; readonly from: Row }[]
  /** Offsets of each entry, alternately: its first byte, and the first byte after it. */
  readonly places: number[]
  readonly rowByProject: Map<number, Row>
  /** Rows of identifiers that do not end with the project's number. */
  readonly rowByIdentifier: Map<string, Row>
  readonly months: MonthSums
}

/** The entries of a release in memory, as the bytes of the index with the place of each entry. */
export class ActivityIndex {
  /** Entries, one for each activity. */
  readonly count: number
  /** Received and paid out, of all activities. */
  readonly months: Months
  /** Whether sums tell expenditure (type 4) from what partners received; not before format 3. */
  readonly tellsExpenditure: boolean
  /** Whether its activities tell money by year; not before format 6. */
  readonly tellsYears: boolean
  readonly #bytes: Buffer
  readonly #files: IndexParts['files']
  readonly #places: Float64Array
  readonly #rowByProject: ReadonlyMap<number, Row>
  readonly #rowByIdentifier: ReadonlyMap<string, Row>

  private constructor(bytes: Buffer, { files, places, rowByProject, rowByIdentifier, months }: IndexParts) {
    this.#bytes = bytes
    this.#files = files
    this.#places = Float64Array.from(places)
    this.#rowByProject = rowByProject
    this.#rowByIdentifier = rowByIdentifier
    this.count = places.length / 2
    this.months = months.toJSON()
    const format = Number(/^\{"format":(\d+)/.exec(bytes.toString('latin1', 0, 40))?.[1])
    this.tellsExpenditure = format >= 3
    this.tellsYears = format >= 6
  }

  /** Reads the index of a release; undefined for a release of an earlier version, which has none. */
  static async read(release: ReadableRelease, pause: Pause = nextTurn): Promise<ActivityIndex | undefined> {
    const file = await release.find(activityIndexPath)
    if (!file) return undefined
    // What is not written to takes no memory.
    const bytes = Buffer.allocUnsafe(file.identity.length)
    return new ActivityIndex(bytes, await partsOf(file.identity, bytes, pause))
  }

  /** The entry in a row; parsed anew each time, so that 100,000 of them cost no more than their bytes. */
  entry(row: Row): ActivityEntry {
    return JSON.parse(this.#text(row, 'utf8')) as ActivityEntry
  }

  /**
   * The same as JSON without place, hash and elements, and without its closing brace; a character of it is a byte of its
   * UTF-8 (`latin1`). It is cut out of the bytes, which takes a twentieth of the time of parsing them.
   */
  openText(row: Row): string {
    const text = this.#text(row, 'latin1')
    const has = text.lastIndexOf(',"has":')
    const languages = text.slice(has, -1).replace(/^,"has":\d+/, '')
    return text.slice(0, text.indexOf(',"offset":')) + text.slice(text.indexOf(',"changed":'), has) + languages
  }

  #text(row: Row, encoding: 'utf8' | 'latin1'): string {
    return this.#bytes.toString(encoding, this.#places[2 * row], this.#places[2 * row + 1])
  }

  /** The row of a project's activity; undefined when it has none. */
  rowOfProject(project: number): Row | undefined {
    return this.#rowByProject.get(project)
  }

  /** The row of an activity; undefined when it is not published. */
  rowOf(identifier: string): Row | undefined {
    const own = this.#rowByIdentifier.get(identifier)
    const row = own ?? this.rowOfProject(Number(/(\d+)$/.exec(identifier)?.[1]))
    return row !== undefined && this.entry(row).identifier === identifier ? row : undefined
  }

  /** The rows of a file's activities, in project order. */
  rowsOf(path: string): { readonly from: Row; readonly to: Row } {
    const at = this.#files.findIndex((file) => file.path === path)
    return { from: this.#files[at]?.from ?? 0, to: at < 0 ? 0 : (this.#files[at + 1]?.from ?? this.count) }
  }

  /** The path of the file that holds an activity. */
  pathOf(row: Row): string {
    return this.#files.findLast(({ from }) => from <= row)?.path ?? ''
  }
}

/** Reads the index of a release, other work having its turns in each `pause`; undefined as `ActivityIndex.read`. */
export type IndexReader = (release: ReadableRelease, pause?: Pause) => Promise<ActivityIndex | undefined>

// The live release's index, and the one before while requests still read it.
const keptIndexes = 2

/** A reader that keeps the newest indexes in memory, by their bytes: releases with the same activities share one. */
export function createIndexReader(): IndexReader {
  const kept = new NewestKept<ActivityIndex | undefined>(keptIndexes)
  return async (release, pause) => {
    const file = await release.find(activityIndexPath)
    return file && (await kept.get(file.sha256, () => ActivityIndex.read(release, pause)))
  }
}

/** The entries of a release with their texts and years, in the order of its index, some at a time. */
export async function* indexedActivities(
  release: ReadableRelease,
  pause: Pause = nextTurn,
): AsyncGenerator<IndexedActivity[]> {
  const file = await release.find(activityIndexPath)
  if (!file) return
  for await (const lines of linesIn(file.identity, pause)) {
    yield lines
      .filter((line) => line.subarray(0, entryStart.length).equals(entryStart))
      .map((line) => JSON.parse(line.toString()) as IndexedActivity)
  }
}

const entryStart = Buffer.from('{"identifier":')
// Quotes within a text are escaped, so this is nowhere else in a line. After the texts come the years.
const textsStart = Buffer.from(',"texts":{')
// Lines read before other work gets a turn.
const linesTogether = 25

/** The lines without commas at their ends. */
async function* linesIn(body: Body, pause: Pause): AsyncGenerator<Buffer[]> {
  let rest: Buffer = Buffer.alloc(0)
  let lines: Buffer[] = []
  for await (const chunk of body.chunks()) {
    const bytes = Buffer.concat([rest, chunk])
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      lines.push(bytes.subarray(from, bytes[end - 1] === 0x2c ? end - 1 : end))
      from = end + 1
      if (lines.length < linesTogether) continue
      yield lines
      lines = []
      await pause()
    }
    rest = bytes.subarray(from)
  }
  yield lines
}

/** Copies the lines to `kept`, without texts and years. */
async function partsOf(body: Body, kept: Buffer, pause: Pause): Promise<IndexParts> {
  const parts: IndexParts = {
    files: [],
    places: [],
    rowByProject: new Map(),
    rowByIdentifier: new Map(),
    months: new MonthSums(),
  }
  let from = 0
  for await (const lines of linesIn(body, pause)) {
    for (const line of lines) {
      const texts = line.indexOf(textsStart)
      let to = from + line.copy(kept, from, 0, texts < 0 ? line.length : texts)
      if (texts >= 0) kept[to++] = closingBrace
      addLine(parts, kept, from, to)
      from = to
    }
  }
  return parts
}

const closingBrace = 0x7d
const entryHead = /^\{"identifier":("(?:[^"\\]|\\.)*"),"project":(\d+)/

function addLine(
  { files, places, rowByProject, rowByIdentifier, months }: IndexParts,
  bytes: Buffer,
  from: number,
  to: number,
): void {
  // Every entry begins with identifier and project; few identifiers are long.
  const head = (length: number) => bytes.toString('latin1', from, Math.min(to, from + length))
  const start = head(400)
  const isEntry = start.startsWith('{"identifier":')
  const [, quoted = '', project] = (isEntry && (entryHead.exec(start) ?? entryHead.exec(head(10_000)))) || []
  if (project !== undefined) {
    if (!quoted.endsWith(`-${project}"`)) {
      const identifier = JSON.parse(Buffer.from(quoted, 'latin1').toString()) as string
      rowByIdentifier.set(identifier, places.length / 2)
    }
    rowByProject.set(Number(project), places.length / 2)
    places.push(from, to)
  } else if (start.startsWith('{"path":')) {
    const { path } = JSON.parse(`${bytes.toString('utf8', from, to)}]}`) as { path: string }
    files.push({ path, from: places.length / 2 })
  } else if (start.startsWith('],"months":')) {
    months.addAll(JSON.parse(bytes.toString('utf8', from + '],"months":'.length, to - 1)) as Months)
  }
}

/** The bytes of an activity in the release that the index belongs to. Throws like `open` when the release was removed. */
export async function readActivity(release: ReadableRelease, index: ActivityIndex, row: Row): Promise<Buffer> {
  const { offset, length, identifier } = index.entry(row)
  const file = await release.find(index.pathOf(row))
  if (!file) throw corrupt(release, index.pathOf(row))
  const bytes = await file.identity.slice(offset, offset + length).bytes()
  if (bytes.length !== length || !bytes.subarray(0, openTag.length).equals(openTag)) throw corrupt(release, identifier)
  return bytes
}

const openTag = Buffer.from('<iati-activity ')

function corrupt({ id }: ReadableRelease, what: string): ServiceError {
  return new ServiceError('release-corrupt', `release ${id}: ${what} is not where the index says`)
}
