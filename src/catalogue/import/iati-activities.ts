import {
  fieldsOfElements,
  folded,
  fullName,
  givesWay,
  isMixed,
  isTitled,
  keptAlone,
  projectTitle,
  readKept,
  statusOf,
} from '../../iati/mapping/kept.js'
import { iatiRecordLimits } from '../../iati/record-limits.js'
import { activityChecks, organisationChecks } from '../../iati/validation/index.js'
import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import { parseDecimal } from '../../kernel/money.js'
import type { Notice } from '../../kernel/notice.js'
import type { KeptElement } from '../../kernel/project.js'
import type { ProjectRecord } from '../../kernel/record.js'
import { ofEach } from '../../kernel/rows.js'
import { type InLanguages, languagesOf, textKey } from '../../kernel/texts.js'
import type { Attributes, Element } from '../../kernel/xml/element.js'
import { streamElements } from '../../kernel/xml/reader.js'
import { escapeAttribute } from '../../kernel/xml/writer.js'
import { inTurns } from '../../kernel/yielder.js'
import type { Db } from '../../platform/database/connection.js'
import {
  beginMoving,
  correctProject,
  findCorrected,
  findProjectsByIdentifier,
  newProjectNumbers,
  saveKeptActivities,
  saveKeptOrganisations,
} from '../sql/kept-activities.js'
import { saveRecords } from '../sql/save-records.js'
import type { ParsedValue } from '../wire/read/parsed-value.js'
import type { FileRecord } from './file-record.js'
import { toHashedRecord } from './hashed-record.js'
import type { ImportSaving, RecordOutcome } from './kind.js'
import type { ElementFate, MovedRecord, RecordImporter } from './record-importer.js'

/** How `--kind` calls files of the IATI standard. */
export const iatiKind = 'iati'

type Place = { readonly text: string; readonly file: string | undefined; readonly line: number | undefined }

type Activity = Place &
  InLanguages & {
    readonly identifier: string
    readonly title: string
    readonly status: ProjectRecord['status']
    readonly paused: boolean
    readonly formerly: string | undefined
  }

/** Activities of another publisher: each becomes a project that keeps its identifier, and what was published of it. */
export const iatiImporter: RecordImporter<Activity, Activity> = {
  kind: iatiKind,
  repeated: 'last',
  read: async (value, saving) => {
    const place = placeOf(value, saving)
    const kept = await readKept(place)
    const { element: activity } = kept
    const identifier = folded(textOf(activity, 'iati-identifier'))
    const owner = ownerOf(activity, identifier, saving)
    const problems: FieldProblem[] = [
      ...problemOfIdentifier('iati-identifier', identifier),
      ...('expected' in owner ? [owner] : []),
      ...problemOfMixed(activity),
    ]
    if (problems.length > 0) return refusedRecord(problems, identifier)
    const formerly = 'formerly' in owner ? owner.formerly : undefined
    return {
      row: { identifier, ...projectTitle(activity), ...statusOf(activity), formerly, ...place },
      key: identifier,
      once: ['iati-identifier', identifier],
      moved: await judged(kept, saving),
    }
  },
  prepare: (rows) => rows,
  save: async (db, rows, saving) => {
    await beginMoving(db)
    const known = await findProjectsByIdentifier(db, ofEach(rows, 'identifier'))
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
    const placed = rows.map((row): (Activity & { readonly id: number; readonly isNew: boolean }) | FieldProblem => {
      const stored = known.get(row.identifier)
      if (stored?.source === 'upstream' || stored?.source === 'demo') {
        return problemOf(
          'iati-identifier',
          'one of a project of this platform',
          `that of a project which is ${stored.source}`,
        )
      }
      const id = stored?.id ?? idOf.get(row.identifier) ?? 0
      return problems.get(id) ?? { ...row, id, isNew: stored === undefined }
    })
    const good = placed.flatMap((one) => ('id' in one ? [one] : []))
    await takeCorrections(db, good)
    const changes = await saveKeptActivities(db, good, saving.today)
    const byId = new Map(good.map(({ id }, index) => [id, changes[index] ?? 'unchanged']))
    return placed.map((one): RecordOutcome => ('id' in one ? (byId.get(one.id) ?? 'unchanged') : one))
  },
}

/** What a corrected file says otherwise is taken into a project that says what the file said before. */
async function takeCorrections(db: Db, moved: readonly (Activity & { readonly id: number })[]): Promise<void> {
  const byId = new Map(moved.map((one) => [one.id, one]))
  for (const { id, text, line, ...stored } of await findCorrected(db, moved)) {
    const after = byId.get(id)
    if (!after) continue
    const { element: before } = await readKept({ text, line })
    const { status, paused } = statusOf(before)
    const { title, language, texts } = after
    const gone = languagesOf(stored, ['title']).map((one) => [textKey('title', one), ''] as const)
    const titles = { title, language, texts: { ...Object.fromEntries(gone), ...texts } }
    const isSame = stored.status === status && stored.paused === paused
    await correctProject(db, id, {
      ...(isTitled(stored, before) ? titles : { title: stored.title }),
      ...(isSame ? { status: after.status, paused: after.paused } : { status: stored.status, paused: stored.paused }),
    })
  }
}

type Organisation = Place & { readonly id: string }

/** Records of an organisation file: all but who reports them is kept, and published again. */
export const iatiOrganisationImporter: RecordImporter<Organisation, Organisation> = {
  kind: iatiKind,
  repeated: 'last',
  read: async (value, saving) => {
    const place = placeOf(value, saving)
    const kept = await readKept(place)
    const id = folded(textOf(kept.element, 'organisation-identifier'))
    const problems = [...problemOfIdentifier('organisation-identifier', id), ...problemOfMixed(kept.element)]
    if (problems.length > 0) return refusedRecord(problems, id)
    return { row: { id, ...place }, key: id, once: ['organisation-identifier', id], moved: await judged(kept, saving) }
  },
  prepare: (rows) => rows,
  save: async (db, rows, { today }) => await saveKeptOrganisations(db, rows, today),
}

/** The record as `iatiRecords` found it. */
function placeOf(value: ParsedValue, { file }: ImportSaving): Place {
  const { text, line } = value as { readonly text: string; readonly line: string }
  return { text, file, line: Number(line) }
}

function textOf({ children }: Element, wanted: string): string {
  return children.find(({ name }) => name === wanted)?.text ?? ''
}

// The limit of the column; names in files are far shorter.
const longestIdentifier = 1000

/** Why an identifier cannot be kept: the schema takes every text, a control character is none that a person would mean. */
function problemOfIdentifier(field: string, identifier: string): FieldProblem[] {
  if (identifier !== '' && identifier.length <= longestIdentifier && !/\p{Cc}/u.test(identifier)) return []
  return [problemOf(field, `an identifier of 1 to ${longestIdentifier} characters`, identifier)]
}

function problemOfMixed(record: Element): FieldProblem[] {
  const mixed = record.children.find((child) => !child.name.includes(':') && isMixed(child))
  return mixed || /\S/.test(record.text)
    ? [problemOf((mixed ?? record).name, 'elements or text, not both', 'both')]
    : []
}

/**
 * Whether the activity is this publisher's: by its reporting organisation, whatever its identifier (what begins with an earlier
 * one of the publisher has that in `other-identifier` of type B1), or by the beginning of its identifier, which the
 * operator may name (`formerly`, returned where only he does).
 */
function ownerOf(
  activity: Element,
  identifier: string,
  { publisherRef, formerly = [] }: ImportSaving,
): FieldProblem | { readonly formerly: string | undefined } {
  if (publisherRef === undefined) return { formerly: undefined }
  const begins = (ref: string) => identifier.startsWith(`${ref}-`)
  const reporting = folded(activity.children.find(({ name }) => name === 'reporting-org')?.attributes.ref ?? '')
  const former = formerly.find(begins)
  if (begins(publisherRef)) return { formerly: undefined }
  if (former !== undefined) return { formerly: former }
  if ([publisherRef, ...formerly].includes(reporting)) return { formerly: undefined }
  const expected = `an activity that ${publisherRef} reports; --formerly names an earlier identifier of it`
  return problemOf('reporting-org', expected, `${reporting || 'none'}, and the identifier ${identifier}`)
}

/** What the standard says of a record as it will be published, and what becomes of its elements. */
async function judged(
  { element, ...read }: KeptElement,
  { today, publisherRef: ref, publisherName: name, publisherType: type }: ImportSaving,
): Promise<MovedRecord> {
  const kept = { element, left: [...read.left, ...(ref === undefined ? [] : givesWay(element, { ref, name, type }))] }
  const alone = keptAlone(kept)
  const isActivity = alone.name === 'iati-activity'
  const record = isActivity ? reportedByPlatform(alone, ref) : alone
  const found = await inTurns((isActivity ? activityChecks : organisationChecks)(record, { today, strict: false }))
  const notices = found.filter(({ severity }) => severity === 'error')
  return { isActivity, notices, left: kept.left, elements: fatesOf(kept, notices, isActivity) }
}

/** The reporting organisation is the platform's in any case: it is not judged by the file. */
function reportedByPlatform(activity: Element, ref = 'XM-DAC-41114'): Element {
  const attributes = { ref, type: '10', 'secondary-reporter': '0' }
  const narrative = { name: 'narrative', attributes: { 'xml:lang': 'en' }, children: [], text: 'The publisher' }
  const platform = { name: 'reporting-org', attributes, children: [narrative], text: '' }
  const at = activity.children.findIndex(({ name }) => name === 'reporting-org')
  const after = at < 0 ? activity.children.findIndex(({ name }) => name !== 'iati-identifier') : at
  const children = activity.children.filter(({ name }) => name !== 'reporting-org')
  return { ...activity, children: [...children.slice(0, after), platform, ...children.slice(after)] }
}

/** The child of the record that a notice is about; undefined for the record itself. */
function childOfPath(path: string): string | undefined {
  return /^\/iati-[a-z]+\/([^/[@]+)/.exec(path)?.[1]
}

function fatesOf(
  { element, left }: KeptElement,
  notices: readonly Notice[],
  isActivity: boolean,
): Map<string, ElementFate> {
  const fates = new Map<string, ElementFate>()
  const of = (name: string) => {
    const known = fates.get(name) ?? { taken: 0, kept: 0, leftOut: 0, held: 0 }
    fates.set(name, known)
    return known
  }
  // All of an activity is held for one error; of an organisation, the element that has it.
  const isHeld = isActivity && notices.length > 0
  for (const child of element.children) {
    const name = fullName(child)
    const fate = of(name)
    if (isHeld) fate.held++
    else if (name === 'reporting-org' || (isActivity && fieldsOfElements[name] !== undefined)) fate.taken++
    else fate.kept++
  }
  for (const { name } of left) of(name).leftOut++
  if (!isActivity) {
    for (const path of new Set(notices.map((notice) => /^\/[^/]+\/[^/@]+/.exec(notice.path)?.[0] ?? ''))) {
      const fate = fates.get(childOfPath(path) ?? '')
      if (fate && fate.kept > 0) {
        fate.kept--
        fate.held++
      }
    }
  }
  return fates
}

function refusedRecord(problems: readonly FieldProblem[], identifier: string) {
  return { problems, ...(identifier !== '' && { recordId: identifier.slice(0, 40) }) }
}

function problemOf(field: string, expected: string, got: string): FieldProblem {
  return { field, expected, got: got.slice(0, 120) }
}

function toRecord({ identifier, title, language, texts, status, paused }: Activity, id: number): ProjectRecord {
  return {
    ...{ id, title, status, type: 'project', numberOfDonations: 0 },
    funding: parseDecimal('0') as ProjectRecord['funding'],
    // It takes no donations before the platform says so.
    active: false,
    publication: {
      ...{ iatiIdentifier: identifier, paused },
      ...(language !== undefined && { language }),
      ...(texts && { texts }),
    },
    ...{ countries: [], themes: [], videos: [], donationOptions: [] },
  }
}

/** The root elements of IATI files, each with the name of its records. */
const recordOfRoot = { 'iati-activities': 'iati-activity', 'iati-organisations': 'iati-organisation' } as const

/**
 * The records of an IATI 2.0x file of any size, each as the text that stands in the file, with the namespaces that it needs.
 * Throws `input-unusable` for another version or another root, and the errors of the XML reader.
 */
export async function* iatiRecords(
  chunks: AsyncIterable<Buffer>,
  root: keyof typeof recordOfRoot,
): AsyncGenerator<FileRecord> {
  const wanted = recordOfRoot[root]
  let namespaces: [string, string][] = []
  let source = ''
  let aside: FileRecord[] = []
  const onRoot = (name: string, attributes: Attributes, line: number) => {
    const { version } = attributes
    if (name !== root || !/^\s*2\.0\d\s*$/.test(version ?? '')) {
      const got = `${name} of version ${version ?? 'none'}`
      throw new ServiceError('input-unusable', `expected ${root} of version 2.01 to 2.03, got ${got}`)
    }
    namespaces = Object.entries(attributes).filter(([key]) => key.startsWith('xmlns:'))
    const others = Object.keys(attributes).filter((key) => !/^(version|generated-datetime|(xmlns|xsi).*)$/.test(key))
    aside = others.map((key) => ({ line, leftOut: `the attribute ${key} of the file` }))
  }
  const onOversize = ({
    element: { name, line = 1 },
    reason,
  }: {
    readonly element: Element
    readonly reason: string
  }) => {
    aside.push({ line, problem: problemOf(name, 'a record within the limits', `one that ${reason}`) })
  }
  const reading = { depth: 1, limits: iatiRecordLimits, onRoot, onOversize, onUnboundPrefix: () => undefined }
  const onSource = (text: string) => {
    source = text
  }
  for await (const found of streamElements(chunks, { ...reading, onSource })) {
    yield* aside
    aside = []
    const { line = 1 } = found
    if (found.name !== wanted) {
      // An element of another namespace is allowed here, and says nothing of any record.
      if (found.name.includes(':') || found.attributes.xmlns)
        yield { line, leftOut: `the element ${found.name} of the file` }
      else yield { line, problem: problemOf(found.name, wanted, found.name) }
      continue
    }
    const used = usedPrefixes(found)
    const needed = namespaces.filter(
      ([name]) => used.has(name.slice('xmlns:'.length)) && found.attributes[name] === undefined,
    )
    const declarations = needed.map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`).join('')
    const text = `<${wanted}${declarations}${source.slice(wanted.length + 1)}`
    yield { line, value: { text, line: String(line) } }
  }
  yield* aside
}

/** The prefixes of the names in an element. */
function usedPrefixes(element: Element, found = new Set<string>()): Set<string> {
  for (const name of [element.name, ...Object.keys(element.attributes)]) {
    const colon = name.indexOf(':')
    if (colon > 0) found.add(name.slice(0, colon))
  }
  for (const child of element.children) usedPrefixes(child, found)
  return found
}
