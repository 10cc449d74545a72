import type { FunderOrganisation, Organisation, ProjectGraph } from '../../kernel/project.js'
import type { InLanguages } from '../../kernel/texts.js'
import { type Attributes, type Element, element } from '../../kernel/xml/element.js'
import { prewritten } from '../../kernel/xml/writer.js'
import { hasActiveAgency } from '../standard/index.js'
import { donorsName, type MappingConfig } from './mapping-config.js'
import type { MappingContext, Party } from './mapping-context.js'
import { narratives, type Text, textOf } from './narrative.js'
import { sentence } from './sentences.js'

/** Code of OrganisationType for a group without identity. */
const other = '90'

/** The parties of every activity, the publisher and the donating public, with their elements, made once. */
type StandingParties = {
  readonly platform: Party
  readonly reportingOrg: Element
  /** As `participating-org`: the public funds (1), the platform passes on (3). */
  readonly funding: Element
  readonly extending: Element
  /** The public as `provider-org`. */
  readonly donating: Element
}

const standing = new WeakMap<MappingConfig, Map<string, StandingParties>>()

/** The parties that all activities of a publisher in a language share. */
export function standingParties(config: MappingConfig, language: string): StandingParties {
  const byLanguage = standing.get(config) ?? new Map<string, StandingParties>()
  standing.set(config, byLanguage)
  const known = byLanguage.get(language)
  if (known) return known
  const { ref, name, type } = config.reportingOrg
  const platform: Party = { ref, type, name: [[config.language, name]] }
  // No donor is ever named (iati.md 9.4).
  const donors: Party = { type: other, name: donorsIn(config, language) }
  const made = {
    platform,
    // The platform reports what it collects and pays out itself: it is not a secondary reporter.
    reportingOrg: prewritten(
      element('reporting-org', { ref, type, 'secondary-reporter': '0' }, narratives(platform.name, language)),
    ),
    funding: prewritten(partyElement('participating-org', donors, language, { role: '1' })),
    extending: prewritten(partyElement('participating-org', platform, language, { role: '3' })),
    donating: prewritten(partyElement('provider-org', donors, language)),
  }
  byLanguage.set(language, made)
  return made
}

/** The name of the giving public: the service's own sentence, or the operator's. */
function donorsIn({ assumed, reportingOrg, language: own }: MappingConfig, language: string): Text {
  const isOurs = assumed.donors === sentence('en', 'donors', '{publisher}')[1]
  if (isOurs) return [sentence(language, 'donors', reportingOrg.name)]
  return [[own, donorsName(assumed, reportingOrg.name)]]
}

/** An organisation that gave or received money. */
export function partyOf(organisation: FunderOrganisation, context: MappingContext): Party {
  const known = context.parties.get(organisation.id)
  if (known) return known
  const ref = refOf(organisation, context)
  const party: Party = {
    name: organisationName(organisation, context.config),
    ...(ref && { ref }),
    ...(organisation.orgType && { type: organisation.orgType }),
  }
  context.parties.set(organisation.id, party)
  return party
}

/** The organisation that implements the project; undefined with a notice when the source names none. */
export function implementingParty(graph: ProjectGraph, context: MappingContext): Party | undefined {
  const { organisation } = graph
  if (!organisation) {
    context.notice('organisation-unknown', 'organization', 'expected an organisation, got none')
    return undefined
  }
  const ref = refOf(organisation, context)
  const type = organisation.orgType ?? deriveType(organisation, graph, context)
  return { name: organisationName(organisation, context.config), ...(ref && { ref }), ...(type && { type }) }
}

/** The name of an organisation in its languages. */
export function organisationName(
  organisation: InLanguages & { readonly name: string },
  { language }: MappingConfig,
): Text {
  return textOf(organisation, 'name', organisation.name, language)
}

/** Attributes and narratives of an organisation reference in an activity of the language. */
export function partyElement(
  name: string,
  { ref, type, name: words }: Party,
  language: string,
  attributes?: Attributes,
): Element {
  const all: Record<string, string> = { ...attributes }
  if (ref) all.ref = ref
  if (type) all.type = type
  return element(name, all, narratives(words, language))
}

/** `participating-org` [1..*]: one element per organisation and role, by role, the public first, then by name. */
export function participatingOrgs(
  graph: ProjectGraph,
  implementing: Party | undefined,
  context: MappingContext,
): Element[] {
  context.assumeDefault('donors', 'ASSUMED_DONORS')
  const funders = new Map<number, FunderOrganisation>()
  for (const { funder } of graph.months) if (funder) funders.set(funder.id, funder)
  const funding = [...funders.values()].sort((a, b) => a.id - b.id).map((funder) => partyOf(funder, context))
  const { config, language } = context
  const { funding: donors, extending } = standingParties(config, language)
  return [
    donors,
    ...funding.map((party) => partyElement('participating-org', party, language, { role: '1' })),
    extending,
    ...(implementing ? [partyElement('participating-org', implementing, language, { role: '4' })] : []),
  ]
}

/** What an organisation may be identified by. */
type Identified = { readonly orgRef?: string | undefined; readonly ein?: string | undefined }

const refShape = /^([A-Z]{2,3}(?:-[A-Z0-9]+)+?)-([A-Za-z0-9._-]+)$/

/**
 * The identifier of an organisation (iati.md 5.2): the stored one, so that a partner that publishes is linked by the id it
 * uses, else its US tax id; undefined when there is none or it is not usable.
 */
export function organisationRef(organisation: Identified, publisherRef: string): string | undefined {
  const ref = organisation.orgRef ?? einRef(organisation.ein)
  return ref !== undefined && isUsableRef(ref, publisherRef) ? ref : undefined
}

function refOf(organisation: Identified, context: MappingContext): string | undefined {
  const ref = organisationRef(organisation, context.config.reportingOrg.ref)
  if (ref === undefined && organisation.orgRef !== undefined) {
    const got = JSON.stringify(organisation.orgRef)
    context.notice('organisation-ref-unusable', 'organization', `expected AGENCY-NUMBER, got ${got}`)
  }
  return ref
}

/** It begins with a known registration agency and not with the platform's own identifier. */
function isUsableRef(ref: string, publisherRef: string): boolean {
  return refShape.test(ref) && hasActiveAgency(ref) && !ref.startsWith(`${publisherRef}-`)
}

/** US tax ids are written with and without their hyphen; publishers mostly use `US-EIN-` and nine digits. */
function einRef(ein: string | undefined): string | undefined {
  const digits = ein?.replaceAll(/[- ]/g, '') ?? ''
  return /^\d{9}$/.test(digits) ? `US-EIN-${digits}` : undefined
}

/** 24 (partner-country NGO) when it works in its own country, else the assumed type; undefined without an address. */
function deriveType(organisation: Organisation, graph: ProjectGraph, context: MappingContext): string | undefined {
  if (!organisation.countryCode) return undefined
  if (graph.countries.some((country) => country.code === organisation.countryCode)) {
    return context.assume('partner-at-home')
  }
  context.assumeDefault('partner-from-abroad', 'ASSUMED_PARTNER_TYPE')
  return context.config.assumed.partnerType
}
