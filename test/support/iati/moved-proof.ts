import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type XmlAttribute, XmlDocument, XmlElement } from 'libxml2-wasm'
import type { ImportSummary } from '../../../src/catalogue/import/import-summary.js'
import { validateFile } from '../../../src/iati/validation/index.js'
import type { IsoDate } from '../../../src/kernel/dates.js'
import type { Notice } from '../../../src/kernel/notice.js'
import type { Ended } from '../commands/cli.js'
import { runCommandLine } from '../commands/command-line.js'
import { testDatabase } from '../store/database.js'
import { temporaryFolder } from '../values/temporary-folder.js'
import { type GeneratedFile, type GeneratedPublisher, generatedFile, namespaces, type Tree } from './generated-iati.js'

/** What came of files that were imported into an empty store and published, all through the command. */
type Move = {
  readonly summary: ImportSummary
  readonly activities: readonly Tree[]
  readonly organisations: readonly Tree[]
  /** The folder of the released files. */
  readonly released: string
  readonly run: (...args: string[]) => Promise<Ended>
}

/** Imports files of bytes and publishes them, as a person does. */
async function moveIn(
  files: Readonly<Record<string, Buffer>>,
  { ref, type, name }: GeneratedPublisher,
  ...options: readonly string[]
): Promise<Move> {
  const folder = await temporaryFolder()
  const { url } = await testDatabase()
  await mkdir(path.join(folder, 'old'))
  for (const [file, bytes] of Object.entries(files)) await writeFile(path.join(folder, 'old', file), bytes)
  const environment = {
    ...{ DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent', BASE_URL: 'https://giving.example' },
    ...{ REPORTING_ORG_REF: ref, REPORTING_ORG_NAME: name, REPORTING_ORG_TYPE: type, DEFAULT_CURRENCY: 'USD' },
  }
  const run = async (...args: string[]) => await runCommandLine(args, environment)
  const paths = Object.keys(files).map((file) => path.join(folder, 'old', file))
  const imported = await run('import', '--kind', 'iati', '--json', ...options, ...paths)
  const summary = JSON.parse(imported.stdout) as ImportSummary
  const published = await run('publish', '--inline', '--json')
  const { state } = JSON.parse(published.stdout) as { state: string }
  if (!/^(published|held)$/.test(state)) throw new Error(`publish: ${published.stdout}${published.stderr}`)
  const released = path.join(folder, 'feeds', 'current', 'iati')
  const recordsIn = async (name: string) => {
    const all: Tree[] = []
    for (const file of (await readdir(released).catch(() => [])).sort())
      if (new RegExp(`^${name}(-\\d+)?\\.xml$`).test(file))
        all.push(...treeOf(await readFile(path.join(released, file))).children)
    return all
  }
  return {
    summary,
    activities: await recordsIn('activities'),
    organisations: await recordsIn('organisations'),
    released,
    run,
  }
}

/** The root of a document, as libxml2 reads it: names with the address of their namespace. */
function treeOf(document: Buffer): Tree {
  const parsed = XmlDocument.fromBuffer(document)
  try {
    return fromNode(parsed.root)
  } finally {
    parsed.dispose()
  }
}

function fromNode(node: XmlElement): Tree {
  const children: Tree[] = []
  let text = ''
  for (let child = node.firstChild; child; child = child.next) {
    if (child instanceof XmlElement) children.push(fromNode(child))
    else if (/^Xml(Text|CData)$/.test(child.constructor.name)) text += child.content
  }
  const nameOf = (one: XmlElement | XmlAttribute) =>
    one.namespaceUri === '' ? one.name : `{${one.namespaceUri}}${one.name}`
  const attributes = Object.fromEntries(node.attrs.map((one) => [nameOf(one), one.content]))
  return { name: nameOf(node), attributes, children, text: children.length > 0 ? '' : text }
}

const xml = 'http://www.w3.org/XML/1998/namespace'
const language = `{${xml}}lang`

/** A generated element in the form of {@link treeOf}. */
export function named({ name, attributes, children, text }: Tree, around = ''): Tree {
  const { xmlns = around, ...others } = attributes
  const full = (key: string, standard: string) => {
    const [prefix, local] = key.split(':') as [string, string?]
    if (local === undefined) return standard === '' ? key : `{${standard}}${key}`
    const uri = prefix === 'xml' ? xml : namespaces[prefix]
    return uri === undefined ? key : `{${uri}}${local}`
  }
  return {
    name: full(name, xmlns),
    attributes: Object.fromEntries(Object.entries(others).map(([key, value]) => [full(key, ''), value])),
    children: children.map((child) => named(child, xmlns)),
    text,
  }
}

const optionalReferences: Readonly<Record<string, readonly string[]>> = {
  'participating-org': ['ref', 'activity-id'],
  'provider-org': ['ref', 'provider-activity-id'],
  'receiver-org': ['ref', 'receiver-activity-id'],
  'owner-org': ['ref'],
  'recipient-org': ['ref'],
}

/** What of a record must be published, and what is left out of its elements, by name. */
function expectedOf(
  record: Tree,
  { ref, type, name }: GeneratedPublisher,
): { readonly tree: Tree; readonly left: readonly string[] } {
  const left: string[] = []
  const isLost = (key: string) => key.startsWith('lost:')
  const clean = (one: Tree, top: string): Tree => {
    const attributes = { ...one.attributes }
    const hasWords = one.children.some((child) => child.name === 'narrative' && child.text.trim() !== '')
    for (const [key, value] of Object.entries(attributes)) {
      const isEmpty = value.trim() === '' && optionalReferences[one.name]?.includes(key) && (key !== 'ref' || hasWords)
      if (isEmpty || isLost(key)) {
        delete attributes[key]
        left.push(top)
      } else if (key === language && value === 'EN') attributes[key] = 'en'
    }
    const children = one.children.flatMap((child) => {
      if (!isLost(child.name)) return [clean(child, top || child.name)]
      left.push(top || child.name)
      return []
    })
    return { ...one, attributes, children }
  }
  const tree = clean(record, '')
  delete tree.attributes['last-updated-datetime']
  const isCalled = (one: Tree) =>
    one.children.some((child) => child.name === 'narrative' && child.text.replace(/\s+/g, ' ').trim() === name)
  const isOwn = identifierOf(record) === ref
  const inLanguage: Record<string, string> = tree.attributes[language] === 'en' ? {} : { [language]: 'en' }
  const narrative = { name: 'narrative', attributes: inLanguage, children: [], text: name }
  const children = tree.children.map((one) => {
    if (
      one.name === 'name' &&
      isOwn &&
      !tree.children.some((other) => /^(name|reporting-org)$/.test(other.name) && isCalled(other))
    ) {
      left.push('name')
      return { ...one, children: [narrative] }
    }
    if (one.name !== 'reporting-org') return one
    if (!isCalled(one)) left.push('reporting-org')
    if (one.attributes.type !== type) left.push('reporting-org')
    const others = one.children.filter((child) => child.name !== 'narrative')
    return {
      ...one,
      attributes: { ...one.attributes, ref, type },
      children: isCalled(one) ? one.children : [narrative, ...others],
    }
  })
  return { tree: { ...tree, children }, left: left.map((top) => top || record.name) }
}

function canonical({ name, attributes, children, text }: Tree): string {
  return JSON.stringify([name, Object.entries(attributes).sort(), text, children.map(canonical)])
}

const identifierOf = ({ children }: Tree) =>
  children.find(({ name }) => /^(iati|organisation)-identifier$/.test(name))?.text ?? ''

/** What was lost, invented or changed between what must be published and what is, element by element. */
function differencesOf(expected: readonly Tree[], published: readonly Tree[]): string[] {
  const found = new Map(published.map((record) => [identifierOf(record), record]))
  const wanted = new Set(expected.map(identifierOf))
  return [
    ...published.flatMap((record) => (wanted.has(identifierOf(record)) ? [] : [`invented ${identifierOf(record)}`])),
    ...expected.flatMap((record) => {
      const identifier = identifierOf(record)
      const there = found.get(identifier)
      if (!there) return [`lost ${JSON.stringify(identifier)}`]
      const { 'last-updated-datetime': _, ...attributes } = there.attributes
      const before = [canonical({ ...record, children: [] }), ...record.children.map(canonical)]
      const after = [
        canonical({ ...there, attributes, children: [] }),
        ...there.children.filter((one) => !isOwn(one)).map(canonical),
      ]
      return [
        ...without(before, after).map((one) => `${identifier} lost ${one}`),
        ...without(after, before).map((one) => `${identifier} invented ${one}`),
      ]
    }),
  ]
}

/** What the platform says of itself in its organisation file: pages of its own. */
const isOwn = ({ name, attributes }: Tree) =>
  name === 'document-link' && /^https:\/\/giving\.example\//.test(attributes.url ?? '')

/** What the first list has more of. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const rest = [...others]
  return all.filter((one) => {
    const at = rest.indexOf(one)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}

/** An error that a validator finds in a file before it is moved: of an activity, or of a child of an organisation's record. */
type FileError = { readonly subject: string; readonly path: string }

/**
 * What is not as a move must be: something refused; anything held but what has an error; anything lost, invented or changed;
 * the counts of the table of elements; errors in what is published.
 */
async function faultsOf(
  { summary, activities, organisations, released, run }: Move,
  records: readonly Tree[],
  publisher: GeneratedPublisher,
  errors: readonly FileError[] = [],
): Promise<string[]> {
  const fates = new Map<string, { whole: number; left: number; held: number }>()
  const fateOf = (name: string) => {
    const fate = fates.get(asWritten(name)) ?? { whole: 0, left: 0, held: 0 }
    fates.set(asWritten(name), fate)
    return fate
  }
  const published = records.flatMap((record) => {
    const own = errors.filter(({ subject }) => subject === identifierOf(record).trim())
    const { tree, left } = expectedOf(record, publisher)
    for (const name of left) fateOf(name).left++
    const isHeld = tree.name === 'iati-activity' ? () => own.length > 0 : isAt(tree, own)
    const children = tree.children.filter((child) => {
      fateOf(child.name)[isHeld(child) ? 'held' : 'whole']++
      return !isHeld(child)
    })
    return tree.name === 'iati-activity' && own.length > 0 ? [] : [{ ...tree, children }]
  })
  const of = (name: string) => published.filter((tree) => tree.name === name)
  const told = summary.elements ?? {}
  const files = (await readdir(released).catch(() => [])).filter((file) =>
    /^(activities|organisations)\.xml$/.test(file),
  )
  const validated =
    files.length === 0 ? undefined : await run('validate', '--json', ...files.map((file) => path.join(released, file)))
  const others = organisations.filter(
    (one) =>
      identifierOf(one) !== publisher.ref || of('iati-organisation').some((two) => identifierOf(two) === publisher.ref),
  )
  return [
    ...summary.problems.map((problem) => `refused ${JSON.stringify(problem)}`),
    ...differencesOf(of('iati-activity'), activities),
    ...differencesOf(of('iati-organisation'), others),
    ...[...fates].flatMap(([name, is]) => {
      const { taken = 0, kept = 0, leftOut: left = 0, held = 0 } = told[name] ?? {}
      const says = { whole: taken + kept, left, held }
      return JSON.stringify(says) === JSON.stringify(is)
        ? []
        : [`${name}: told ${JSON.stringify(says)}, is ${JSON.stringify(is)}`]
    }),
    ...Object.keys(told).flatMap((name) => (fates.has(name) ? [] : [`told of ${name}, which no file has`])),
    ...(validated?.code ? [validated.stdout] : []),
  ]
}

/** Whether an error is in a child of the record. */
function isAt({ children }: Tree, errors: readonly FileError[]): (child: Tree) => boolean {
  const wrong = errors.map(({ path: at }) => {
    const [, name = '', nth = '1'] = /^\/[^/]+\/([^/[@]+)(?:\[(\d+)\])?/.exec(at) ?? []
    return children.filter((child) => child.name === name)[Number(nth) - 1]
  })
  return (child) => wrong.includes(child)
}

/** A name with the prefix that generated files give its namespace. */
function asWritten(name: string): string {
  const [, uri, local] = /^\{([^}]*)\}(.*)$/.exec(name) ?? []
  const prefix = Object.keys(namespaces).find((one) => namespaces[one] === uri)
  return prefix === undefined ? name : `${prefix}:${local}`
}

const generatedBy = { ref: 'GB-CHC-1164883', type: '22', name: 'Giving Lakes' }

/** The generated files of a seed; those of seed 0 have all that the schema has. */
export function filesOfSeed(seed: number): Readonly<Record<string, GeneratedFile>> {
  return {
    'activities.xml': generatedFile('iati-activities', seed, seed === 0 ? 2 : 10, generatedBy),
    'organisations.xml': generatedFile('iati-organisations', seed, seed === 0 ? 1 : 4, generatedBy),
  }
}

/** The faults of moving generated files, and what is published. */
export async function moveGenerated(
  files: Readonly<Record<string, GeneratedFile>>,
): Promise<{ readonly faults: readonly string[]; readonly published: readonly Tree[] }> {
  const bytes = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, file.bytes]))
  const records = Object.values(files).flatMap((file) => file.records.map((record) => named(record)))
  const move = await moveIn(bytes, generatedBy)
  return { faults: await faultsOf(move, records, generatedBy), published: [...move.activities, ...move.organisations] }
}

/**
 * The faults of moving real files of one publisher, whose records have an error by the standard, and the rules that they break.
 */
export async function moveReal(
  folder: string,
  files: readonly string[],
): Promise<{
  readonly faults: readonly string[]
  readonly errors: Readonly<Record<string, number>>
  readonly summary: ImportSummary
}> {
  const paths = files.map((file) => path.join(folder, file))
  const bytes = Object.fromEntries(files.map((file, index) => [file, readFileSync(paths[index] ?? '')]))
  const records = Object.values(bytes).flatMap((one) => treeOf(one).children)
  const reporting = records[0]?.children.find(({ name }) => name === 'reporting-org')
  const { ref = '', type = '' } = reporting?.attributes ?? {}
  const publisher = { ref, type, name: reporting?.children[0]?.text.replace(/\s+/g, ' ').trim() ?? '' }
  const errors: Notice[] = []
  const context = { today: '2026-11-20' as IsoDate, strict: false }
  for (const file of paths)
    await validateFile(file, { context, onNotice: (one) => one.severity === 'error' && errors.push(one) })
  const move = await moveIn(bytes, publisher)
  const byCode: Record<string, number> = {}
  for (const { code } of errors) byCode[code] = (byCode[code] ?? 0) + 1
  return { faults: await faultsOf(move, records, publisher, errors), errors: byCode, summary: move.summary }
}
