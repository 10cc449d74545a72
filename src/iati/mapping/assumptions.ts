import { donorsName, type MappingConfig } from './mapping-config.js'

/** A statement that is published although no record and no person makes it. */
type Assumption = {
  /** Where it stands in an activity: a child, or an attribute as `@name`; then a `/` and the place in the child. */
  readonly element: string
  /** The code; what it says where that differs by activity. The default of a variable is in the configuration. */
  readonly states: string | ((config: MappingConfig) => string)
  /** The last edition that makes it; absent: all do. */
  readonly until?: number
  /** The clause of docs/contract/iati.md. */
  readonly clause: string
  readonly reason: string
  /** How a person says otherwise. */
  readonly change: string
}

/**
 * What is assumed changes with an edition: stores that publish keep theirs until a person confirms a later one. A migration
 * with a new one records the one before for the stores that have published.
 */
export const newestEdition = 2

const codes = (name: string) => `ASSUMED_CODES=${name}=CODE, or ${name}=none`

/** Every assumption. The mapping takes the codes that it writes from here, and notes each one with its activity. */
export const assumptions = {
  'publisher-type': {
    element: 'reporting-org/@type',
    states: ({ reportingOrg }) => reportingOrg.type,
    clause: '3.2',
    reason: 'The standard wants a type of organisation, and the variable is not set.',
    change: 'REPORTING_ORG_TYPE',
  },
  language: {
    element: '@xml:lang',
    states: ({ language }) => language,
    clause: '2.1',
    reason: 'Texts need a language, and the variable is not set.',
    change: 'DEFAULT_LANGUAGE',
  },
  currency: {
    element: '@default-currency',
    states: ({ currency }) => currency,
    clause: '2.1',
    reason: 'Amounts need a currency, and the variable is not set.',
    change: 'DEFAULT_CURRENCY',
  },
  humanitarian: {
    element: '@humanitarian',
    states: ({ edition = 1 }) => (edition === 1 ? '0' : '1'),
    clause: '3.7',
    reason:
      'A purpose code of the activity is one of emergencies (72xxx to 74xxx), and no theme or GLIDE number says so.',
    change: 'giving themes map ID CODE --humanitarian, or the field glideNumber',
  },
  'budget-not-provided': {
    element: '@budget-not-provided',
    states: '3',
    clause: '2.1',
    reason: 'The standard wants a reason where there is no budget: an emergency is answered before anyone sets a goal.',
    change: 'the field goal',
  },
  donors: {
    element: 'participating-org/narrative',
    states: ({ assumed, reportingOrg }) => donorsName(assumed, reportingOrg.name),
    clause: '5.1',
    reason: 'The standard wants to know who funds, and no donor is named.',
    change: 'ASSUMED_DONORS',
  },
  'partner-at-home': {
    element: 'participating-org/@type',
    states: '24',
    clause: '5.3',
    reason: 'The partner has no type, and its country is one of the project.',
    change: 'the field orgType of the organisation',
  },
  'partner-from-abroad': {
    element: 'participating-org/@type',
    states: ({ assumed }) => assumed.partnerType,
    clause: '5.3',
    reason: 'The partner has no type, and its country is none of the project.',
    change: 'the field orgType of the organisation, or ASSUMED_PARTNER_TYPE',
  },
  'planned-start': {
    element: 'activity-date/@iso-date',
    states: 'type 1: the earliest day that is known',
    clause: '4.2',
    reason: 'The standard wants a start, and the record has no day of approval.',
    change: 'the field approvedDate',
  },
  'actual-start': {
    element: 'activity-date/@iso-date',
    states: 'type 2: the first month of gifts, not before the planned start',
    clause: '4.2',
    reason: 'The project is over, and no payout tells when it began.',
    change: 'giving import of its payouts (kind disbursements)',
  },
  region: {
    element: 'recipient-region/@code',
    states: '998',
    clause: '6.1',
    reason: 'The standard wants a recipient, and the record has no usable country.',
    change: 'the field countries',
  },
  'country-shares': {
    element: 'recipient-country/@percentage',
    states: 'equal shares',
    clause: '6.1',
    reason: 'Several countries need shares, and the record has none.',
    change: 'shares in the field countries, such as KE:60|UG:40',
  },
  'location-exactness': {
    element: 'location/exactness',
    states: '2',
    clause: '6.2',
    reason: 'A point without exactness is taken for an exact one, and no record says how exact it is.',
    change: codes('location-exactness'),
  },
  'location-class': {
    element: 'location/location-class',
    states: '2',
    clause: '6.2',
    reason: 'The place has a name, and a populated place is the likely kind.',
    change: codes('location-class'),
  },
  sector: {
    element: 'sector/@code',
    states: '99810',
    clause: '7.1',
    reason: 'The standard wants a sector, and no theme of the project has a purpose code.',
    change: 'the field themes, or giving themes map ID CODE',
  },
  'sector-shares': {
    element: 'sector/@percentage',
    states: 'equal shares',
    clause: '7.1',
    reason: 'Several sectors need shares, and no record has them.',
    change: 'one theme for each project',
  },
  'flow-type': {
    element: 'default-flow-type',
    states: '30',
    clause: '3.6',
    reason: 'Gifts of private people are private development finance.',
    change: codes('flow-type'),
  },
  'finance-type': {
    element: 'default-finance-type',
    states: '110',
    clause: '3.6',
    reason: 'Nobody pays gifts back: they are standard grants.',
    change: codes('finance-type'),
  },
  'aid-type': {
    element: 'default-aid-type',
    states: 'C01',
    clause: '3.6',
    reason: 'What is collected for one project is for project-type interventions.',
    change: codes('aid-type'),
  },
  'tied-status': {
    element: 'default-tied-status',
    states: '5',
    until: 1,
    clause: '3.6',
    reason: 'No record says where the money must be spent.',
    change: codes('tied-status'),
  },
  'budget-status': {
    element: 'budget/@status',
    states: '1',
    clause: '8.1',
    reason: 'A goal is what is hoped for: indicative, not committed.',
    change: 'ASSUMED_CODES=budget-status=CODE',
  },
  'document-category': {
    element: 'document-link/category',
    states: ({ assumed }) => assumed.documentCategory,
    clause: '10.1',
    reason: 'A document needs a category, and no record says what the further document is.',
    change: 'ASSUMED_DOCUMENT_CATEGORY',
  },
} as const satisfies Readonly<Record<string, Assumption>>

export type AssumptionName = keyof typeof assumptions

/** What an assumption states under this configuration. */
export function statementOf(name: AssumptionName, config: MappingConfig): string {
  const { states }: Assumption = assumptions[name]
  return typeof states === 'string' ? states : states(config)
}

/** Whether an edition makes the assumption. */
export function isMade(name: AssumptionName, edition: number): boolean {
  const { until = edition }: Assumption = assumptions[name]
  return edition <= until
}
