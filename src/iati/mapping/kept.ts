import { lookupTable } from '../../kernel/lookup-table.js'
import type { ProjectGraph } from '../../kernel/project.js'
import type { Attributes, Element } from '../../kernel/xml/element.js'
import { parseElement, type XmlLimits } from '../../kernel/xml/reader.js'
import { elementRule } from '../standard/index.js'

// The places of a record's children, in the order of the standard; those of other namespaces come last.
const slots = slotsOf('/iati-activities/iati-activity')
const namesInOrganisation = slotsOf('/iati-organisations/iati-organisation').map(({ name }) => name)
const required = new Set(slots.flatMap(({ name, least }) => (least > 0 ? [name] : [])))

function slotsOf(at: string) {
  return (elementRule(at)?.slots ?? []).filter(({ name }) => name !== '*')
}

/** Limits of a record of another publisher's file. */
export const keptLimits: XmlLimits = { depth: 64, elements: 200_000, attributes: 100, characters: 16_000_000 }

/**
 * Whose the elements of a name are when a project has an activity from before it moved here: the store's once it has data
 * for them, else what was published stays.
 */
const ownData = lookupTable<(graph: ProjectGraph, before: Element) => boolean>({
  'iati-identifier': () => true,
  'reporting-org': () => true,
  title: ({ project }, before) => project.title !== titleOf(before),
  description: ({ project: { summary, need, longTermImpact, activities } }) =>
    [summary, need, longTermImpact, activities].some((text) => text !== undefined && text !== ''),
  'participating-org': ({ organisation }) => organisation !== undefined,
  'activity-status': ({ project }, before) => {
    const { status, paused } = statusOf(before)
    return project.status !== status || project.paused !== paused
  },
  'activity-date': ({ project: { approvedDate, deadline } }) => approvedDate !== undefined || deadline !== undefined,
  'contact-info': ({ organisation, project }) => organisation !== undefined && project.projectLink !== undefined,
  'activity-scope': hasCountries,
  'recipient-country': hasCountries,
  'recipient-region': hasCountries,
  location: ({ project }) => project.latitude !== undefined,
  sector: ({ themes }) => themes.length > 0,
  tag: ({ sdgs }) => sdgs.length > 0,
  'humanitarian-scope': ({ project }) => project.glideNumber !== undefined,
})

/** Elements of which history from before the move stands beside what the store has. */
const joined = new Set(['other-identifier', 'planned-disbursement', 'transaction', 'document-link', 'result'])

/** Elements that the store writes; all others are kept as they are. */
export const ownElements: ReadonlySet<string> = new Set([
  'iati-identifier',
  'reporting-org',
  'title',
  'activity-status',
])

function hasCountries({ countries }: ProjectGraph): boolean {
  return countries.length > 0
}

/** The title of an activity, or the name of an organisation, in its first language. */
export function titleOf({ children }: Element): string | undefined {
  return children.find(({ name }) => name === 'title' || name === 'name')?.children[0]?.text
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

/** The store's activity together with the one from before the project moved here, in the order of the standard. */
export function withKept(own: Element, graph: ProjectGraph): Element {
  if (graph.kept === undefined) return own
  const before = parseElement(graph.kept.text, keptLimits)
  const { movedOn } = graph.kept
  const ownGroups = groupsOf(declared(own, before.attributes))
  const kept = groupsOf(before)
  const children = inOrder(
    slots.map(({ name }) => name),
    kept,
  ).flatMap((name) => {
    const [ours, theirs] = [ownGroups.get(name) ?? [], kept.get(name) ?? []]
    if (joined.has(name)) return [...theirs, ...ours.filter((one) => !theirs.some((other) => isSame(one, other)))]
    if (name === 'budget') return graph.project.goal === undefined ? theirs : budgetsOf(ours, theirs, movedOn)
    const isOwn = ownData[name]?.(graph, before) || (theirs.length === 0 && required.has(name))
    return isOwn && ours.length > 0 ? ours : theirs
  })
  return { ...own, attributes: attributesOf(own.attributes, before.attributes), children }
}

/** What was published of an organisation before the publisher moved here. */
export type KeptOrganisation = { readonly text: string; readonly movedOn: string }

/**
 * The record of an organisation together with the one from before the move. Money of periods that ended before the move is
 * history; of later ones the store's stands, where it has any. `planned` are the partners for whom the store has
 * `recipient-org-budget`s, which are written elsewhere.
 */
export function withKeptOrganisation(
  own: Element,
  { text, movedOn }: KeptOrganisation,
  planned: ReadonlySet<string> = new Set(),
): Element {
  const before = parseElement(text, keptLimits)
  const ownGroups = groupsOf(declared(own, before.attributes))
  const kept = groupsOf(before)
  const children = inOrder(namesInOrganisation, kept).flatMap((name) => {
    const [ours, theirs] = [ownGroups.get(name) ?? [], kept.get(name) ?? []]
    if (joined.has(name)) return [...theirs, ...ours.filter((one) => !theirs.some((other) => isSame(one, other)))]
    if (name === 'recipient-org-budget') {
      return theirs.filter((one) => endOf(one) < movedOn || !planned.has(one.children[0]?.attributes.ref ?? ''))
    }
    if (name.startsWith('total-')) {
      return ours.length > 0 && theirs.length > 0 ? budgetsOf(ours, theirs, movedOn) : [...theirs, ...ours]
    }
    const isOwn = name !== 'name' || titleOf(own) !== titleOf(before)
    return isOwn && ours.length > 0 ? ours : theirs
  })
  return { ...own, attributes: attributesOf(own.attributes, before.attributes), children }
}

function inOrder(names: readonly string[], kept: ReadonlyMap<string, unknown>): string[] {
  return [...names, ...[...kept.keys()].filter((name) => !names.includes(name))]
}

/** Budgets that ended before the move are history; the later ones are the store's. */
function budgetsOf(ours: readonly Element[], theirs: readonly Element[], movedOn: string): Element[] {
  return [...theirs.filter((one) => endOf(one) < movedOn), ...ours.filter((one) => endOf(one) >= movedOn)]
}

function endOf({ children }: Element): string {
  return children.find(({ name }) => name === 'period-end')?.attributes['iso-date'] ?? ''
}

/** Whether two elements say the same, as documents of one address or identifiers of one kind do. */
function isSame(one: Element, other: Element): boolean {
  const key = one.name === 'document-link' ? ['url'] : one.name === 'other-identifier' ? ['ref', 'type'] : undefined
  return key?.every((name) => one.attributes[name] === other.attributes[name]) ?? false
}

function groupsOf({ children }: Element): Map<string, Element[]> {
  const groups = new Map<string, Element[]>()
  for (const child of children) groups.set(child.name, [...(groups.get(child.name) ?? []), child])
  return groups
}

/** What was stated of the whole activity stays; its language and currency are those of what it kept. */
function attributesOf(own: Attributes, { 'last-updated-datetime': _, ...before }: Attributes): Attributes {
  const { 'xml:lang': language, 'default-currency': currency, humanitarian } = own
  return {
    ...(language !== undefined && { 'xml:lang': language }),
    ...(currency !== undefined && { 'default-currency': currency }),
    ...before,
    ...(humanitarian === '1' && { humanitarian }),
  }
}

/** The store's elements, with the language of each text where what was kept has another one. */
export function declared(own: Element, before: Attributes, language = own.attributes['xml:lang']): Element {
  if (language === undefined || (before['xml:lang'] ?? language) === language) return own
  const named = ({ markup: _, ...one }: Element): Element => ({
    ...one,
    attributes: one.name === 'narrative' ? { 'xml:lang': language, ...one.attributes } : one.attributes,
    children: one.children.map(named),
  })
  return named(own)
}
