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
import { coded, narrated } from './narrative.js'
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
export const mappingVersion = 5

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
  const context = new MappingContext(config, day, identifier)
  context.assumeDefault('publisher-type', 'REPORTING_ORG_TYPE')
  context.assumeDefault('language', 'DEFAULT_LANGUAGE')
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
      'xml:lang': config.language,
      'default-currency': config.currency,
      humanitarian: humanitarian ? '1' : '0',
      hierarchy: '1',
      ...(humanitarian &&
        !hasGoal(graph, config.currency) && { 'budget-not-provided': context.assume('budget-not-provided') }),
    },
    [
      textElement('iati-identifier', identifier),
      standingParties(config).reportingOrg,
      narrated('title', graph.project.title),
      ...descriptions(graph),
      ...participatingOrgs(graph, implementing, context),
      ...otherIdentifiers(graph, context),
      activityStatusElement(cycle),
      ...activityDates(cycle),
      contactInfo(graph, implementing, config),
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
function descriptions({ project }: ProjectGraph): (Element | undefined)[] {
  return describing.map(([type, fields]) => {
    const texts = fields.flatMap((field) => project[field] || [])
    const text = fields.length === 1 ? texts[0] : texts.map(plainText).filter(Boolean).join('\n')
    const described = narrated('description', text, { type })
    return described ?? (type === '1' ? narrated('description', project.title, { type }) : undefined)
  })
}

/** `contact-info`: the partner, else the publisher, with addresses to ask at; never a person (iati.md 3.4). */
function contactInfo(
  { project }: ProjectGraph,
  partner: Party | undefined,
  config: MappingConfig,
): Element | undefined {
  const { email, page } = config.contact ?? {}
  const ofRecord = [project.projectLink, project.contactUrl].flatMap((one) => (one && absoluteUrl(one)) || [])
  const pages = new Set(ofRecord.length === 0 && page !== undefined ? [page] : ofRecord)
  if (!partner && email === undefined && pages.size === 0) return undefined
  return element('contact-info', { type: '1' }, [
    narrated('organisation', partner?.name ?? config.reportingOrg.name),
    email === undefined ? undefined : textElement('email', email),
    ...[...pages].map((one) => textElement('website', one)),
  ])
}
