import type { ProjectGraph } from '../../kernel/project.js'
import type { Attributes, Element } from '../../kernel/xml/element.js'
import { parseElement, type XmlLimits } from '../../kernel/xml/reader.js'
import { elementRule } from '../standard/index.js'

// The places of an activity's children, in the order of the standard; those of other namespaces come last.
const slots = (elementRule('/iati-activities/iati-activity')?.slots ?? []).filter(({ name }) => name !== '*')
const required = new Set(slots.flatMap(({ name, least }) => (least > 0 ? [name] : [])))

/** Limits of an activity of another publisher's file. */
export const keptLimits: XmlLimits = { depth: 64, elements: 200_000, attributes: 100, characters: 16_000_000 }

/**
 * Whose the elements of a name are when a project has an activity from before it moved here: the store's once it has data
 * for them, else what was published stays.
 */
const ownData: Readonly<Record<string, (graph: ProjectGraph, before: Element) => boolean>> = {
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
}

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

/** The title of an activity in its first language. */
export function titleOf(activity: Element): string | undefined {
  return activity.children.find(({ name }) => name === 'title')?.children[0]?.text
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
  const names = slots.map(({ name }) => name)
  const foreign = [...kept.keys()].filter((name) => !names.includes(name))
  const children = [...names, ...foreign].flatMap((name) => {
    const [ours, theirs] = [ownGroups.get(name) ?? [], kept.get(name) ?? []]
    if (joined.has(name)) return [...theirs, ...ours.filter((one) => !theirs.some((other) => isSame(one, other)))]
    if (name === 'budget') return graph.project.goal === undefined ? theirs : budgetsOf(ours, theirs, movedOn)
    const isOwn = ownData[name]?.(graph, before) || (theirs.length === 0 && required.has(name))
    return isOwn && ours.length > 0 ? ours : theirs
  })
  return { ...own, attributes: attributesOf(own.attributes, before.attributes), children }
}

/** Budgets that ended before the move are history; the later ones are the store's. */
function budgetsOf(ours: readonly Element[], theirs: readonly Element[], movedOn: string): Element[] {
  const endOf = ({ children }: Element) =>
    children.find(({ name }) => name === 'period-end')?.attributes['iso-date'] ?? ''
  return [...theirs.filter((one) => endOf(one) < movedOn), ...ours.filter((one) => endOf(one) >= movedOn)]
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
function declared(own: Element, before: Attributes): Element {
  const language = own.attributes['xml:lang']
  if (language === undefined || (before['xml:lang'] ?? language) === language) return own
  const named = ({ markup: _, ...one }: Element): Element => ({
    ...one,
    attributes: one.name === 'narrative' ? { 'xml:lang': language, ...one.attributes } : one.attributes,
    children: one.children.map(named),
  })
  return named(own)
}
