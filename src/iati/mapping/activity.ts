import type { IsoDate } from '../../kernel/dates.js'
import type { Notice } from '../../kernel/notice.js'
import { descriptionsOf } from '../../kernel/nouns/field.js'
import { projectFields } from '../../kernel/nouns/project.js'
import type { Project, ProjectGraph } from '../../kernel/project.js'
import { type Element, element, textElement } from '../../kernel/xml/element.js'
import { prewritten } from '../../kernel/xml/writer.js'
import { absoluteUrl } from '../absolute-url.js'
import { plainText } from '../plain-text.js'
import { type AssumptionName, assumptions } from './assumptions.js'
import { budgets, hasGoal } from './budgets.js'
import { documentLinks } from './document-links.js'
import { activityScope, location, recipients, usableCountries } from './geography.js'
import { humanitarianScope, isHumanitarian } from './humanitarian.js'
import { withKept } from './kept.js'
import { activityDates, activityStatusElement, lifeCycle } from './life-cycle.js'
import type { MappingConfig } from './mapping-config.js'
import { MappingContext, type Party } from './mapping-context.js'
import { coded, narrated, type Text, textOf } from './narrative.js'
import { mappingNotices } from './notices.js'
import { implementingParty, participatingOrgs, standingParties } from './organisations.js'
import { plannedDisbursements } from './planned-disbursements.js'
import { results } from './results.js'
import { sectors } from './sectors.js'
import { tags } from './tags.js'
import { type MoneyTotals, transactions } from './transactions.js'

/** One mapped project. */
export type MappedActivity = {
  /** `iati-activity` without `last-updated-datetime`, which is added once its content is known to have changed. */
  readonly element: Element
  readonly notices: readonly Notice[]
  /** The first UTC day on which time alone changes the element; undefined: never. */
  readonly validUntil: IsoDate | undefined
  readonly totals: MoneyTotals
  /** What it says although nobody does. */
  readonly assumed: ReadonlySet<AssumptionName>
  /** `last-updated-datetime` of the file that the activity came with, where it says nothing but what the file says. */
  readonly lastUpdated?: string | undefined
}

/**
 * Raise it with every change of what the feeds write for the same input: stored texts of another version are stale and
 * rendered again.
 */
export const mappingVersion = 7

/** `default-flow-type` and its like: the same in all activities (iati.md 3.6). */
function defaults(context: MappingContext): Element[] {
  return (['flow-type', 'finance-type', 'aid-type', 'tied-status'] as const).flatMap((name) => {
    const code = context.codeOf(name)
    return code === undefined ? [] : [defaultElement(`default-${name}`, code)]
  })
}

const written = new Map<string, Element>()

function defaultElement(name: string, code: string): Element {
  const key = `${name} ${code}`
  const known = written.get(key) ?? prewritten(coded(name, code))
  written.set(key, known)
  return known
}

/** The identifier that a project is first published under; it never changes afterwards (iati.md 3.1). */
export function newIdentifier(config: MappingConfig, project: Pick<Project, 'id' | 'iatiIdentifier'>): string {
  return project.iatiIdentifier ?? `${config.reportingOrg.ref}-${project.id}`
}

/**
 * Maps a project to an IATI 2.03 `iati-activity`, its children in the order of the schema. Pure: the same graph,
 * configuration and day give the same element. Never throws for bad data: validation judges the element.
 */
export function toActivity(
  graph: ProjectGraph,
  config: MappingConfig,
  day: IsoDate,
  identifier: string,
): MappedActivity {
  const { project } = graph
  const context = new MappingContext(config, day, identifier, project.language)
  const { language } = context
  context.assumeDefault('publisher-type', 'REPORTING_ORG_TYPE')
  if (project.language === undefined) context.assumeDefault('language', 'DEFAULT_LANGUAGE')
  context.assumeDefault('currency', 'DEFAULT_CURRENCY')
  const cycle = lifeCycle(graph, context)
  const implementing = implementingParty(graph, context)
  const countries = usableCountries(graph, context)
  const money = transactions(graph, implementing, context)
  const budget = budgets(graph, cycle, context)
  const humanitarian = isHumanitarian(graph, context)
  const activity = element(
    'iati-activity',
    {
      'xml:lang': language,
      'default-currency': config.currency,
      humanitarian: humanitarian ? '1' : '0',
      hierarchy: '1',
      ...(humanitarian &&
        !hasGoal(graph, config.currency) && { 'budget-not-provided': context.assume('budget-not-provided') }),
    },
    [
      textElement('iati-identifier', identifier),
      standingParties(config, language).reportingOrg,
      narrated('title', textOf(project, 'title', project.title, language), language),
      ...descriptions(graph, language),
      ...participatingOrgs(graph, implementing, context),
      ...otherIdentifiers(graph, context),
      activityStatusElement(cycle),
      ...activityDates(cycle, language),
      contactInfo(graph, implementing, context),
      activityScope(graph, countries),
      ...recipients(countries, context),
      location(graph, context),
      ...sectors(graph, context),
      ...tags(graph, context),
      humanitarianScope(graph),
      ...defaults(context),
      ...budget,
      ...plannedDisbursements(graph, implementing, context),
      ...money.elements,
      ...documentLinks(graph, context),
      results(graph, cycle, context),
    ],
  )
  const { validUntil, assumed } = context
  const { totals } = money
  if (!graph.kept) return { element: activity, notices: context.notices, validUntil, totals, assumed }
  const { element: moved, left, lastUpdated, ours } = withKept(activity, graph, graph.kept)
  const { severity } = mappingNotices['kept-left-out']
  const notices = [
    // Most of what the mapping would have had to assume is in the file.
    ...context.notices.filter((notice) => notice.severity !== 'info'),
    ...left.map(({ path, reason, line }): Notice => {
      const detail = `expected what can be published again, got ${reason}: it was left out`
      return { code: 'kept-left-out', severity, subject: identifier, path, detail, ...(line !== undefined && { line }) }
    }),
  ]
  const stated = [...assumed].filter((name) => ours.has(assumptions[name].element.split('/', 1)[0] ?? ''))
  return { element: moved, notices, validUntil, totals, lastUpdated, assumed: new Set(stated) }
}

/**
 * `other-identifier`: the platform's own id (A1), and the publisher's earlier identifiers (B1) from the one that a published
 * activity keeps when the publisher's changes (rule 1.1.21).
 */
function otherIdentifiers({ project, kept }: ProjectGraph, context: MappingContext): Element[] {
  const { identifier } = context
  const { earlierRefs = [], reportingOrg } = context.config
  // The number that an import of the activity made up names it nowhere else.
  const own = kept?.ownNumber === false ? [] : [element('other-identifier', { ref: String(project.id), type: 'A1' })]
  const [known] = [reportingOrg.ref, ...earlierRefs, ...(kept?.formerly === undefined ? [] : [kept.formerly])]
    .filter((ref) => identifier.startsWith(`${ref}-`))
    .sort((a, b) => b.length - a.length)
  if (known === undefined && kept) return own
  if (identifier === project.iatiIdentifier && /[/&|?]/.test(identifier) && !kept) {
    context.notice('identifier-unusable', 'iatiIdentifier', `expected none of / & | ?, got ${identifier}`)
  }
  if (known === undefined && identifier === project.iatiIdentifier) {
    const refs = [reportingOrg.ref, ...earlierRefs].join('- or ')
    context.notice('identifier-foreign', 'iatiIdentifier', `expected it to begin with ${refs}-, got ${identifier}`)
    return own
  }
  const ending = `-${project.id}`
  const earlier = known ?? (identifier.endsWith(ending) ? identifier.slice(0, -ending.length) : '')
  if (earlier === '') return own
  const since = earlierRefs.indexOf(earlier)
  const refs = (since < 0 ? [earlier] : earlierRefs.slice(since)).filter((ref) => ref !== reportingOrg.ref)
  return [...own, ...refs.map((ref) => element('other-identifier', { ref, type: 'B1' }))]
}

const describing = descriptionsOf(projectFields)

/** `description` by type, in the order of the types; the title stands for a general one (1) that is missing. */
function descriptions({ project }: ProjectGraph, language: string): (Element | undefined)[] {
  const titles = textOf(project, 'title', project.title, language)
  return describing.map(([type, fields]) => {
    const described = narrated(
      'description',
      joined(fields.map((field) => textOf(project, field, project[field], language))),
      language,
      {
        type,
      },
    )
    return described ?? (type === '1' ? narrated('description', titles, language, { type }) : undefined)
  })
}

/** Several texts as one, a line each, in every language that one of them has. */
function joined([first = [], ...others]: readonly Text[]): Text {
  if (others.length === 0) return first
  const lines = new Map<string, string[]>()
  for (const [language, words] of [first, ...others].flat()) {
    const plain = plainText(words)
    lines.set(language, [...(lines.get(language) ?? []), ...(plain === '' ? [] : [plain])])
  }
  const [own, ...rest] = [...lines].map(([language, texts]) => [language, texts.join('\n')] as const)
  return own ? [own, ...rest.sort()] : []
}

/** `contact-info`: the partner, else the publisher, with addresses to ask at; never a person (iati.md 3.4). */
function contactInfo(
  { project }: ProjectGraph,
  partner: Party | undefined,
  { config, language }: MappingContext,
): Element | undefined {
  const { email, page } = config.contact ?? {}
  const ofRecord = [project.projectLink, project.contactUrl].flatMap((one) => (one && absoluteUrl(one)) || [])
  const pages = new Set(ofRecord.length === 0 && page !== undefined ? [page] : ofRecord)
  if (!partner && email === undefined && pages.size === 0) return undefined
  return element('contact-info', { type: '1' }, [
    narrated('organisation', partner?.name ?? standingParties(config, language).platform.name, language),
    email === undefined ? undefined : textElement('email', email),
    ...[...pages].map((one) => textElement('website', one)),
  ])
}
