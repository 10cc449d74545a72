import { lookupTable } from '../../kernel/lookup-table.js'
import { descriptionsOf } from '../../kernel/nouns/field.js'
import { projectFields } from '../../kernel/nouns/project.js'
import type { Kept, KeptElement, LeftOut, ProjectGraph } from '../../kernel/project.js'
import { type InLanguages, languageOfTag, languagesOf, textIn, textKey } from '../../kernel/texts.js'
import type { Attributes, Element } from '../../kernel/xml/element.js'
import { parseElement, streamElements } from '../../kernel/xml/reader.js'
import { iatiRecordLimits } from '../record-limits.js'
import { codeList, elementRule } from '../standard/index.js'

// The places of a record's children, in the order of the standard; those of other namespaces come last.
const namesInActivity = namesOf('/iati-activities/iati-activity')
const namesInOrganisation = namesOf('/iati-organisations/iati-organisation')

function namesOf(at: string): string[] {
  return (elementRule(at)?.slots ?? []).flatMap(({ name }) => (name === '*' ? [] : [name]))
}

const describing = descriptionsOf(projectFields).flatMap(([, fields]) => fields)

/**
 * Whose the elements of a name are when a project has an activity from before it moved here: the store's once it has data
 * for them, else what was published stays. What the file lacks is not made up: the activity is held until it is stated.
 */
const ownData = lookupTable<(graph: ProjectGraph, before: Element) => boolean>({
  title: ({ project }, before) => !isTitled(project, before),
  description: ({ project }) => describing.some((field) => project[field] !== undefined && project[field] !== ''),
  'participating-org': ({ organisation }) => organisation !== undefined,
  'activity-status': ({ project }, before) => {
    const { status, paused } = statusOf(before)
    if (project.status !== status || project.paused !== paused) return true
    // A project that was only imported takes no donations, which says nothing about its activity.
    return project.active && !has(before, 'activity-status')
  },
  'activity-date': ({ project: { approvedDate, deadline }, months, disbursements, reports }, before) =>
    approvedDate !== undefined ||
    deadline !== undefined ||
    (!has(before, 'activity-date') && [months, disbursements, reports].some(({ length }) => length > 0)),
  'contact-info': ({ organisation, project }) => organisation !== undefined && project.projectLink !== undefined,
  'activity-scope': hasCountries,
  'recipient-country': hasCountries,
  'recipient-region': hasCountries,
  location: ({ project }) => project.latitude !== undefined,
  sector: ({ themes }) => themes.length > 0,
  tag: ({ sdgs }) => sdgs.length > 0,
  'humanitarian-scope': ({ project }) => project.glideNumber !== undefined,
})

function has({ children }: Element, wanted: string): boolean {
  return children.some(({ name }) => name === wanted)
}

/** Elements of which history from before the move stands beside what the store has. */
const joined = new Set(['other-identifier', 'planned-disbursement', 'transaction', 'document-link', 'result'])

/** The fields that the store takes elements into; all others are kept as they are. */
export const fieldsOfElements = lookupTable({
  'iati-identifier': 'projects.iatiIdentifier',
  title: 'projects.title',
  'activity-status': 'projects.status',
})

function hasCountries({ countries }: ProjectGraph): boolean {
  return countries.length > 0
}

/** The text with its white space folded, as identifiers and names are compared. */
export function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** The narratives of the title of an activity, or of the name of an organisation, that have words: in its own language first. */
function titlesOf({
  children,
  attributes,
}: Element): { readonly language: string | undefined; readonly text: string }[] {
  const own = languageOf(attributes)
  const title = children.find(({ name }) => name === 'title' || name === 'name')
  const found = (title?.children ?? []).flatMap(({ name, text, attributes: said }) =>
    name === 'narrative' && /\S/.test(text) ? [{ language: languageOf(said) ?? own, text: folded(text) }] : [],
  )
  return [...found.filter(({ language }) => language === own), ...found.filter(({ language }) => language !== own)]
}

function languageOf({ 'xml:lang': tag }: Attributes): string | undefined {
  return tag ? languageOfTag(tag) : undefined
}

/** What the project of an activity is called, in its languages: its identifier where its title has no words. */
export function projectTitle(activity: Element): InLanguages & { readonly title: string } {
  const [first, ...others] = titlesOf(activity)
  const identifier = activity.children.find(({ name }) => name === 'iati-identifier')?.text ?? ''
  if (!first) return { title: folded(identifier) }
  const { language } = first
  const isKnown = language !== undefined && languages.has(language)
  const inOthers = others.filter((one) => one.language !== language && languages.has(one.language ?? ''))
  const texts = Object.fromEntries(inOthers.map((one) => [textKey('title', one.language ?? ''), one.text]))
  return {
    title: first.text,
    ...(isKnown && { language }),
    ...(inOthers.length > 0 && { texts }),
  }
}

/** Whether the project has only titles that its activity had before it moved here. */
export function isTitled(project: InLanguages & { readonly title: string }, before: Element): boolean {
  const titles = titlesOf(before)
  const own = folded(project.title)
  if (titles.length === 0 ? own !== projectTitle(before).title : !titles.some(({ text }) => text === own)) return false
  return languagesOf(project, ['title']).every((language) =>
    titles.some((one) => one.language === language && one.text === folded(textIn(project, 'title', language) ?? '')),
  )
}

/** The state of a project whose activity has this status. */
export function statusOf(activity: Element): {
  readonly status: 'active' | 'funded' | 'retired'
  readonly paused: boolean
} {
  const code = activity.children.find(({ name }) => name === 'activity-status')?.attributes.code
  const status = code === '5' ? 'retired' : code === '3' || code === '4' ? 'funded' : 'active'
  return { status, paused: code === '6' }
}

// A larger text is read in pieces, between which other work gets a turn.
const mostAtOnce = 65_536

/** Reads what was kept; other work gets a turn while a large one is read. */
export async function readKept(kept: Pick<Kept, 'text' | 'line'>): Promise<KeptElement> {
  if (kept.text.length <= mostAtOnce) return readAtOnce(kept)
  async function* text() {
    yield kept.text
  }
  for await (const element of streamElements(text(), { ...readingOf(kept), depth: 0, limits: iatiRecordLimits })) {
    return cleaned(element)
  }
  throw new Error('the kept text has no element')
}

function readAtOnce(kept: Pick<Kept, 'text' | 'line'>): KeptElement {
  return cleaned(parseElement(kept.text, iatiRecordLimits, readingOf(kept)))
}

function readingOf({ line }: Pick<Kept, 'line'>) {
  return { linesBefore: (line ?? 1) - 1, onUnboundPrefix: () => undefined }
}

/** References that the standard lets a file leave out, by element. */
const optionalReferences = lookupTable<readonly string[]>({
  'participating-org': ['ref', 'activity-id'],
  'provider-org': ['ref', 'provider-activity-id'],
  'receiver-org': ['ref', 'receiver-activity-id'],
  'owner-org': ['ref'],
  'recipient-org': ['ref'],
})

const languages = codeList('Language').codes

/**
 * The element without what says nothing (an empty optional reference) or cannot be written (undeclared prefixes, text between
 * the elements of another namespace). Codes of languages are written as on their list.
 */
function cleaned(root: Element): KeptElement {
  const left: LeftOut[] = []
  const leave = (name: string, path: string, reason: string, line: number | undefined) =>
    left.push({ name, path, reason, line })

  function clean(element: Element, prefixes: ReadonlySet<string>, top: string, path: string): Element | undefined {
    const { name, line } = element
    const known = withDeclared(prefixes, element.attributes)
    if (isUnbound(name, known)) {
      leave(top, path, `the prefix of ${name} is not declared`, line)
      return undefined
    }
    if ((name.includes(':') || element.attributes.xmlns) && isMixed(element)) {
      leave(top, path, `${name} has text between its elements`, line)
      return undefined
    }
    const attributes = cleanAttributes(element, known, top, path)
    let children: Element[] | undefined
    for (const [index, child] of element.children.entries()) {
      const one = clean(child, known, top || child.name, `${path}/${child.name}`)
      if (one !== child) children ??= element.children.slice(0, index)
      if (children && one) children.push(one)
    }
    if (attributes === element.attributes && !children) return element
    return { ...element, attributes, ...(children && { children }) }
  }

  function cleanAttributes(element: Element, prefixes: ReadonlySet<string>, top: string, path: string): Attributes {
    const { name, line, attributes } = element
    let changed: Record<string, string> | undefined
    for (const key in attributes) {
      const value = attributes[key] ?? ''
      if (isUnbound(key, prefixes)) {
        leave(top || name, `${path}/@${key}`, `the prefix of ${key} is not declared`, line)
        changed ??= { ...attributes }
        delete changed[key]
      } else if (value.trim() === '' && isNeedless(element, key)) {
        leave(top || name, `${path}/@${key}`, 'an empty reference', line)
        changed ??= { ...attributes }
        delete changed[key]
      } else if (key === 'xml:lang' && !languages.has(value) && languages.has(value.toLowerCase())) {
        changed ??= { ...attributes }
        changed[key] = value.toLowerCase()
      }
    }
    return changed ?? attributes
  }

  return { element: clean(root, new Set(['xml', 'xmlns']), '', `/${root.name}`) ?? root, left }
}

/** Whether an empty reference may go: an organisation without a name keeps it, since the standard wants one of both. */
function isNeedless({ name, children }: Element, attribute: string): boolean {
  if (!optionalReferences[name]?.includes(attribute)) return false
  return attribute !== 'ref' || children.some((child) => child.name === 'narrative' && /\S/.test(child.text))
}

function withDeclared(prefixes: ReadonlySet<string>, attributes: Attributes): ReadonlySet<string> {
  let all: Set<string> | undefined
  for (const key in attributes) {
    if (!key.startsWith('xmlns:')) continue
    all ??= new Set(prefixes)
    all.add(key.slice('xmlns:'.length))
  }
  return all ?? prefixes
}

function isUnbound(name: string, prefixes: ReadonlySet<string>): boolean {
  const colon = name.indexOf(':')
  return colon > 0 && !prefixes.has(name.slice(0, colon))
}

/** Whether it, or an element in it, has both text and children. */
export function isMixed({ children, text }: Element): boolean {
  return (children.length > 0 && /\S/.test(text)) || children.some(isMixed)
}

/** An activity as it is published after a move. */
export type MovedActivity = {
  readonly element: Element
  readonly left: readonly LeftOut[]
  /** Names of children in which the store's elements stand, and `@humanitarian` where the store states it. */
  readonly ours: ReadonlySet<string>
  /** `last-updated-datetime` of the file, where the activity says nothing but what the file says. */
  readonly lastUpdated?: string | undefined
}

/** What the platform says itself of every activity. */
const ofPublisher = new Set(['iati-identifier', 'reporting-org', 'other-identifier'])

/** The store's activity together with the one from before the project moved here, in the order of the standard. */
export function withKept(own: Element, graph: ProjectGraph, kept: Kept): MovedActivity {
  const { element: before, left } = kept.read ?? readAtOnce(kept)
  const ownGroups = groupsOf(declared(own, before.attributes))
  let isWhole = true
  const names = new Set(['reporting-org'])
  const children = merged(namesInActivity, before, (name, theirs) => {
    const ours = ownGroups.get(name) ?? none
    if (name === 'iati-identifier') return identifierOf(ours, theirs)
    if (name === 'reporting-org') return reportingOrg(ours, theirs)
    const chosen = joined.has(name)
      ? beside(ours, theirs)
      : name === 'budget' && graph.project.goal !== undefined
        ? budgetsOf(ours, theirs, kept.movedOn)
        : ours.length > 0 && ownData[name]?.(graph, before)
          ? ours
          : theirs
    if (chosen !== theirs && !ofPublisher.has(name)) isWhole = false
    if (chosen.some((one) => ours.includes(one))) names.add(name)
    return chosen
  })
  const { 'last-updated-datetime': lastUpdated, ...attributes } = before.attributes
  const isAdded = own.attributes.humanitarian === '1' && !isTrue(attributes.humanitarian)
  if (isAdded) {
    isWhole = false
    names.add('@humanitarian')
  }
  return {
    element: { ...own, attributes: { ...attributes, ...(isAdded && { humanitarian: '1' }) }, children },
    left,
    ours: names,
    ...(isWhole && { lastUpdated }),
  }
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && /^\s*(1|true)\s*$/.test(text)
}

/** What is published of the file's record alone, as far as the standard can judge it: who reports it is the platform. */
export function keptAlone({ element: before }: KeptElement): Element {
  const names = before.name === 'iati-organisation' ? namesInOrganisation : namesInActivity
  const { 'last-updated-datetime': _, ...attributes } = before.attributes
  return { ...before, attributes, children: merged(names, before, (_name, theirs) => theirs) }
}

/** What was published of an organisation before the publisher moved here. */
export type KeptOrganisation = Pick<Kept, 'text' | 'movedOn' | 'file' | 'line'>

/**
 * The record of an organisation together with the one from before the move. Money of periods that ended before the move is
 * history; of later ones the store's stands, where it has any. `planned` are the partners for whom the store has
 * `recipient-org-budget`s, which are written elsewhere.
 */
export async function withKeptOrganisation(
  own: Element,
  kept: KeptOrganisation,
  planned: ReadonlySet<string> = new Set(),
): Promise<Element> {
  const { element: before } = await readKept(kept)
  const ownGroups = groupsOf(declared(own, before.attributes))
  const { movedOn } = kept
  const children = merged(namesInOrganisation, before, (name, theirs) => {
    const ours = ownGroups.get(name) ?? none
    if (name === 'organisation-identifier') return identifierOf(ours, theirs)
    if (name === 'reporting-org') return reportingOrg(ours, theirs)
    if (joined.has(name)) return beside(ours, theirs)
    if (name === 'recipient-org-budget') {
      return theirs.filter((one) => endOf(one) < movedOn || !planned.has(one.children[0]?.attributes.ref ?? ''))
    }
    if (name.startsWith('total-')) {
      return ours.length > 0 && theirs.length > 0 ? budgetsOf(ours, theirs, movedOn) : [...theirs, ...ours]
    }
    const isOwn = name !== 'name' || !isNamed(before, titlesOf(own)[0]?.text ?? '')
    return isOwn && ours.length > 0 ? ours : theirs
  })
  const { 'last-updated-datetime': _, ...attributes } = before.attributes
  return { ...own, attributes, children }
}

const none: readonly Element[] = []

/** The chosen children, names in the order of the standard. */
function merged(
  names: readonly string[],
  before: Element,
  choose: (name: string, theirs: readonly Element[]) => readonly Element[],
): Element[] {
  const kept = groupsOf(before)
  const others = [...kept.keys()].filter((name) => !names.includes(name))
  return [...names, ...others].flatMap((name) => choose(name, kept.get(name) ?? none))
}

/** The identifier as the file writes it, where it is the same one. */
function identifierOf(ours: readonly Element[], theirs: readonly Element[]): readonly Element[] {
  return theirs.length === 1 && folded(theirs[0]?.text ?? '') === folded(ours[0]?.text ?? '') ? theirs : ours
}

/** Whether a narrative of the element is this name. */
function isCalled({ children }: Element, wanted: string): boolean {
  return children.some((child) => fullName(child) === 'narrative' && folded(child.text) === folded(wanted))
}

/** Whether the record of an organisation calls it so, as its subject or as its publisher. */
function isNamed({ children }: Element, wanted: string): boolean {
  return children.some((child) => /^(name|reporting-org)$/.test(child.name) && isCalled(child, wanted))
}

type Publisher = { readonly ref: string; readonly name: string | undefined; readonly type: string | undefined }

/** What a file says of the publisher that gives way to the configuration, and to which variable. */
export function givesWay(record: Element, publisher: Publisher): LeftOut[] {
  const { ref, name = '', type } = publisher
  const isOf = (element: Element, wanted: string) => fullName(element) === wanted
  const reporting = record.children.find((child) => isOf(child, 'reporting-org'))
  const identifier = record.children.find((child) => isOf(child, 'organisation-identifier'))
  const own = folded(identifier?.text ?? '') === ref ? record.children.find((child) => isOf(child, 'name')) : undefined
  const left = (element: Element | undefined, variable: string): LeftOut[] =>
    element
      ? [
          {
            name: element.name,
            path: `/${record.name}/${element.name}`,
            reason: `${variable} says otherwise`,
            line: element.line,
          },
        ]
      : []
  return [
    ...(reporting && folded(reporting.attributes.ref ?? '') !== ref ? left(reporting, 'REPORTING_ORG_REF') : []),
    ...(reporting && type !== undefined && reporting.attributes.type !== type
      ? left(reporting, 'REPORTING_ORG_TYPE')
      : []),
    ...(reporting && name !== '' && !isCalled(reporting, name) ? left(reporting, 'REPORTING_ORG_NAME') : []),
    ...(own && name !== '' && !isNamed(record, name) ? left(own, 'REPORTING_ORG_NAME') : []),
  ]
}

/** The platform, in the words of the file where these name it: with all of its languages. */
function reportingOrg([ours]: readonly Element[], [theirs]: readonly Element[]): readonly Element[] {
  if (!ours || !theirs) return ours ? [ours] : none
  const { ref, type } = ours.attributes
  const attributes = { ...theirs.attributes, ...(ref !== undefined && { ref }), ...(type !== undefined && { type }) }
  const others = theirs.children.filter((child) => fullName(child) !== 'narrative')
  return [
    {
      ...theirs,
      attributes,
      children: isCalled(theirs, ours.children[0]?.text ?? '') ? theirs.children : [...ours.children, ...others],
    },
  ]
}

/** Their elements, then ours that say something else. */
function beside(ours: readonly Element[], theirs: readonly Element[]): readonly Element[] {
  if (ours.length === 0) return theirs
  const said = new Set(theirs.flatMap((one) => keyOf(one) ?? []))
  return [...theirs, ...ours.filter((one) => !said.has(keyOf(one) ?? ''))]
}

/** What names a document or an identifier; other elements are never the same. */
function keyOf({ name, attributes }: Element): string | undefined {
  if (name === 'document-link') return attributes.url
  return name === 'other-identifier' ? `${attributes.type} ${attributes.ref}` : undefined
}

/** Budgets that ended before the move are history; the later ones are the store's. */
function budgetsOf(ours: readonly Element[], theirs: readonly Element[], movedOn: string): Element[] {
  return [...theirs.filter((one) => endOf(one) < movedOn), ...ours.filter((one) => endOf(one) >= movedOn)]
}

function endOf({ children }: Element): string {
  return children.find(({ name }) => name === 'period-end')?.attributes['iso-date'] ?? ''
}

function groupsOf({ children }: Element): Map<string, Element[]> {
  const groups = new Map<string, Element[]>()
  for (const child of children) {
    const name = fullName(child)
    const group = groups.get(name)
    if (group) group.push(child)
    else groups.set(name, [child])
  }
  return groups
}

/** The name of an element; with its namespace where that is another one by default, so that no element of the standard has it. */
export function fullName({ name, attributes: { xmlns } }: Element): string {
  return xmlns ? `{${xmlns}}${name}` : name
}

/** The store's elements, with the language of each text where what was kept has another one, or none. */
export function declared(own: Element, before: Attributes, language = own.attributes['xml:lang']): Element {
  const around = before['xml:lang']
  // Letter case says nothing in a language (RFC 5646 section 2.1.1).
  const isAround = (said: string) => around?.toLowerCase() === said.toLowerCase()
  if (language === undefined || isAround(language)) return own
  const inside = ({ name, attributes }: Element): Attributes => {
    if (name !== 'narrative') return attributes
    const { 'xml:lang': said = language, ...others } = attributes
    return isAround(said) ? others : { 'xml:lang': said, ...others }
  }
  const named = ({ markup: _, ...one }: Element): Element => ({
    ...one,
    attributes: inside(one),
    children: one.children.map(named),
  })
  return named(own)
}
