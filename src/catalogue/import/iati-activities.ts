import { keptLimits, ownElements, statusOf, titleOf } from '../../iati/mapping/kept.js'
import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import { parseDecimal } from '../../kernel/money.js'
import type { ProjectRecord } from '../../kernel/record.js'
import type { Attributes, Element } from '../../kernel/xml/element.js'
import { parseElement, streamElements } from '../../kernel/xml/reader.js'
import { writeElement } from '../../kernel/xml/writer.js'
import {
  findProjectsByIdentifier,
  newProjectNumbers,
  saveKeptActivities,
  saveKeptOrganisations,
} from '../sql/kept-activities.js'
import { saveRecords } from '../sql/save-records.js'
import type { FileRecord } from './file-record.js'
import { toHashedRecord } from './hashed-record.js'
import type { RecordOutcome } from './kind.js'
import { projects } from './kinds/projects.js'
import type { RecordImporter } from './record-importer.js'

/** How `--kind` calls files of the IATI standard. */
export const iatiKind = 'iati'

type Activity = {
  readonly identifier: string
  readonly title: string
  readonly status: ProjectRecord['status']
  readonly paused: boolean
  readonly text: string
}

/** Activities of another publisher: each becomes a project that keeps its identifier, and what was published of it. */
export const iatiImporter: RecordImporter<Activity, Activity> = {
  kind: iatiKind,
  repeated: 'last',
  read: (value) => {
    const text = String(value)
    const activity = parseElement(text, keptLimits)
    const identifier = textOf(activity, 'iati-identifier')
    const title = titleOf(activity) ?? ''
    const isUsable = projects.fields.iatiIdentifier?.type.parse(identifier) !== undefined
    const problems: FieldProblem[] = [
      ...(isUsable ? [] : [problemOf('iati-identifier', 'an identifier of printable characters', identifier)]),
      ...(title.trim() === '' ? [problemOf('title', 'a title with a narrative', title)] : []),
    ]
    if (problems.length > 0) return refusedRecord(problems, identifier)
    return {
      row: { identifier, title, ...statusOf(activity), text },
      key: identifier,
      once: ['iati-identifier', identifier],
      elements: countElements(activity, ownElements),
    }
  },
  prepare: (rows) => rows,
  save: async (db, rows, saving) => {
    const known = await findProjectsByIdentifier(
      db,
      rows.map(({ identifier }) => identifier),
    )
    const missing = rows.filter(({ identifier }) => !known.has(identifier))
    const numbers = await newProjectNumbers(db, missing.length)
    const records = missing.map((row, index) => toHashedRecord(toRecord(row, numbers[index] ?? 0), saving, undefined))
    const { refused } = await saveRecords(
      db,
      records.map((record) => ({ ...record, keeps: 'parts and totals' as const })),
      saving,
    )
    const problems = new Map(refused.map(({ id, problem }) => [id, problem]))
    const idOf = new Map(missing.map(({ identifier }, index) => [identifier, numbers[index] ?? 0]))
    const placed = rows.map((row): { readonly id: number; readonly text: string } | FieldProblem => {
      const stored = known.get(row.identifier)
      if (stored?.source === 'upstream' || stored?.source === 'demo') {
        return problemOf(
          'iati-identifier',
          'one of a project of this platform',
          `that of a project which is ${stored.source}`,
        )
      }
      const id = stored?.id ?? idOf.get(row.identifier) ?? 0
      return problems.get(id) ?? { id, text: row.text }
    })
    const good = placed.flatMap((one) => ('id' in one ? [one] : []))
    const changes = await saveKeptActivities(db, good, saving.today)
    const byId = new Map(good.map(({ id }, index) => [id, changes[index] ?? 'unchanged']))
    return placed.map((one): RecordOutcome => ('id' in one ? (byId.get(one.id) ?? 'unchanged') : one))
  },
}

type KeptRecord = { readonly id: string; readonly text: string }

/** Records of an organisation file: all but who reports them is kept, and published again. */
export const iatiOrganisationImporter: RecordImporter<KeptRecord, KeptRecord> = {
  kind: iatiKind,
  repeated: 'last',
  read: (value) => {
    const text = String(value)
    const organisation = parseElement(text, keptLimits)
    const id = textOf(organisation, 'organisation-identifier')
    if (projects.fields.iatiIdentifier?.type.parse(id) === undefined) {
      return refusedRecord([problemOf('organisation-identifier', 'an identifier of printable characters', id)], id)
    }
    const elements = countElements(organisation, new Set(['organisation-identifier', 'reporting-org']))
    return { row: { id, text }, key: id, once: ['organisation-identifier', id], elements }
  },
  prepare: (rows) => rows,
  save: async (db, rows, { today }) => await saveKeptOrganisations(db, rows, today),
}

function textOf({ children }: Element, wanted: string): string {
  return children.find(({ name }) => name === wanted)?.text.trim() ?? ''
}

function refusedRecord(problems: readonly FieldProblem[], identifier: string) {
  return { problems, ...(identifier !== '' && { recordId: identifier.slice(0, 40) }) }
}

function problemOf(field: string, expected: string, got: string): FieldProblem {
  return { field, expected, got: got.slice(0, 120) }
}

function toRecord({ identifier, title, status, paused }: Activity, id: number): ProjectRecord {
  return {
    ...{ id, title, status, type: 'project', numberOfDonations: 0 },
    funding: parseDecimal('0') as ProjectRecord['funding'],
    // It takes no donations before the platform says so.
    active: false,
    publication: { iatiIdentifier: identifier, paused },
    ...{ countries: [], themes: [], videos: [], donationOptions: [] },
  }
}

/** How many elements of each name are taken into the store, and how many are kept as they are. */
function countElements(
  { children }: Element,
  own: ReadonlySet<string>,
): Map<string, { readonly taken: boolean; readonly count: number }> {
  const counts = new Map<string, { taken: boolean; count: number }>()
  for (const { name } of children) {
    const taken = own.has(name)
    counts.set(name, { taken, count: (counts.get(name)?.count ?? 0) + 1 })
  }
  return counts
}

/** The name of an element with both text and children, which could not be written as it was. */
function mixedContent({ name, children, text }: Element): string | undefined {
  if (children.length > 0 && text.trim() !== '') return name
  for (const child of children) {
    const found = mixedContent(child)
    if (found !== undefined) return found
  }
  return undefined
}

/** The root elements of IATI files, each with the name of its records. */
const recordOfRoot = { 'iati-activities': 'iati-activity', 'iati-organisations': 'iati-organisation' } as const

/**
 * The records of an IATI 2.0x file of any size, each as a text that stands alone. Throws `input-unusable` for another
 * version or another root, and the errors of the XML reader.
 */
export async function* iatiRecords(
  chunks: AsyncIterable<Buffer>,
  root: keyof typeof recordOfRoot,
): AsyncGenerator<FileRecord> {
  const wanted = recordOfRoot[root]
  let namespaces: Attributes = {}
  let tooLarge: FileRecord[] = []
  const onRoot = (name: string, attributes: Attributes) => {
    const { version } = attributes
    if (name !== root || !/^2\.0\d$/.test(version ?? '')) {
      const got = `${name} of version ${version ?? 'none'}`
      throw new ServiceError('input-unusable', `expected ${root} of version 2.01 to 2.03, got ${got}`)
    }
    namespaces = Object.fromEntries(Object.entries(attributes).filter(([key]) => key.startsWith('xmlns')))
  }
  const onOversize = ({
    element: { name, line = 1 },
    reason,
  }: {
    readonly element: Element
    readonly reason: string
  }) => {
    tooLarge.push({ line, problem: problemOf(name, 'a record within the limits', `one that ${reason}`) })
  }
  for await (const found of streamElements(chunks, { depth: 1, limits: keptLimits, onRoot, onOversize })) {
    yield* tooLarge
    tooLarge = []
    const { line = 1 } = found
    if (found.name !== wanted) {
      yield { line, problem: problemOf(found.name, wanted, found.name) }
      continue
    }
    const mixed = mixedContent(found)
    if (mixed !== undefined) {
      yield { line, problem: problemOf(mixed, 'elements or text, not both', 'both') }
      continue
    }
    const needed = Object.entries(namespaces).filter(([name]) => name !== 'xmlns')
    yield {
      line,
      value: writeElement({ ...found, attributes: { ...Object.fromEntries(needed), ...found.attributes } }),
    }
  }
  yield* tooLarge
}
