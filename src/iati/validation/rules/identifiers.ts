import type { Element } from '../../../kernel/xml/element.js'
import { codeList } from '../../standard/index.js'
import { quoted } from '../findings.js'
import type { RecordContext, RecordView } from '../view.js'
import type { Report, Rule } from './rule.js'

/** The attributes that hold identifiers of organisations or activities, by element. */
const identifierAttributes: Readonly<Record<string, readonly string[]>> = {
  'reporting-org': ['ref'],
  'participating-org': ['ref', 'activity-id'],
  'owner-org': ['ref'],
  'provider-org': ['ref', 'provider-activity-id'],
  'receiver-org': ['ref', 'receiver-activity-id'],
  'recipient-org': ['ref'],
  'related-activity': ['ref'],
  'other-identifier': ['ref'],
}

const organisations = [
  'reporting-org',
  'participating-org',
  'owner-org',
  'provider-org',
  'receiver-org',
  'recipient-org',
]

function ownIdentifier(record: RecordView): Element | undefined {
  return record.children('iati-identifier')[0] ?? record.children('organisation-identifier')[0]
}

/** Calls `visit` with the record's own identifier and every identifier in an attribute. */
function eachIdentifier(
  record: RecordView,
  visit: (value: string, element: Element, attribute?: string) => void,
): void {
  const own = ownIdentifier(record)
  if (own) visit(own.text, own)
  for (const name in identifierAttributes) {
    for (const element of record.all(name)) {
      for (const attribute of identifierAttributes[name] ?? []) {
        const value = element.attributes[attribute]
        if (value !== undefined) visit(value, element, attribute)
      }
    }
  }
}

const symbols = /[/&|?]/

// Far above what agencies and publishers have; every hyphen of a text that is no identifier would cost its length.
const longestPrefix = 200

/** The text before each hyphen, but for those far behind. */
function* prefixesOf(identifier: string): Generator<string> {
  for (let end = identifier.indexOf('-'); end > 0 && end <= longestPrefix; end = identifier.indexOf('-', end + 1)) {
    yield identifier.slice(0, end)
  }
}

/** Whether a registration agency of the standard's list begins the identifier. */
function hasKnownAgency(ref: string): boolean {
  const { codes } = codeList('OrganisationRegistrationAgency')
  for (const prefix of prefixesOf(ref)) if (prefix.length < ref.length - 1 && codes.has(prefix)) return true
  return false
}

function isRegistered(ref: string, { registeredOrganisations }: RecordContext): boolean {
  return registeredOrganisations?.has(ref) === true
}

/** Whether an activity identifier begins with the identifier of a registered publisher and a hyphen. */
function hasRegisteredPrefix(identifier: string, context: RecordContext): boolean {
  for (const prefix of prefixesOf(identifier)) if (isRegistered(prefix, context)) return true
  return false
}

function unknownAgency(element: Element, context: RecordContext, report: Report): void {
  const { ref } = element.attributes
  if (ref === undefined || ref.trim() === '' || ref === context.reportingOrgRef || isRegistered(ref, context)) return
  if (!hasKnownAgency(ref)) {
    report(element, `expected an identifier that begins with a known registration agency, got ${quoted(ref)}`, 'ref')
  }
}

export const identifierRules: readonly Rule[] = [
  {
    code: 'identifier-empty',
    severity: 'error',
    official: [],
    standard: 'schema: iati-identifier, "a globally unique identifier"',
    sentence: 'The identifier of the activity or organisation has no characters.',
    check(record, report) {
      const own = ownIdentifier(record)
      if (own && own.text.trim() === '') report(own, `expected an identifier in ${own.name}, got none`)
    },
  },
  {
    code: 'identifier-of-organisation',
    severity: 'error',
    official: ['1.1.3'],
    sentence: 'The activity has the identifier of its reporting organisation.',
    check(record, report) {
      const own = record.children('iati-identifier')[0]
      const ref = record.children('reporting-org')[0]?.attributes.ref
      if (own && ref !== undefined && own.text.trim() === ref.trim() && ref.trim() !== '') {
        const detail = `expected an identifier other than that of the reporting organisation, got ${quoted(ref)}`
        report(own, detail, undefined, own.text !== ref)
      }
    },
  },
  {
    code: 'identifier-prefix',
    severity: 'warning',
    official: ['1.1.21'],
    sentence: 'The activity identifier does not begin with the identifier of the reporting organisation and a hyphen.',
    check(record, report) {
      const own = record.children('iati-identifier')[0]
      const ref = record.children('reporting-org')[0]?.attributes.ref
      if (!own || ref === undefined) return
      if (own.text.startsWith(`${ref}-`)) return
      const earlier = record
        .children('other-identifier')
        .filter(({ attributes }) => attributes.type === 'B1' && attributes.ref)
      if (earlier.some(({ attributes }) => own.text.startsWith(`${attributes.ref}-`))) return
      report(own, `expected an identifier that begins with ${quoted(`${ref}-`)}, got ${quoted(own.text)}`)
    },
  },
  {
    code: 'identifier-spaces',
    severity: 'warning',
    official: [
      '1.3.1',
      '1.4.1',
      '1.5.1',
      '1.6.1',
      '1.7.1',
      '1.8.1',
      '1.9.1',
      '1.10.1',
      '1.11.1',
      '1.12.1',
      '1.14.1',
      '1.15.1',
      '1.16.1',
      '1.17.1',
      '1.18.1',
    ],
    sentence: 'An identifier begins or ends with white space.',
    check(record, report) {
      eachIdentifier(record, (value, element, attribute) => {
        if (value.trim() !== value) report(element, `expected no white space around ${quoted(value)}`, attribute)
      })
    },
  },
  {
    code: 'identifier-symbols',
    severity: 'warning',
    official: ['1.3.13', '1.8.13', '1.10.13', '1.11.13', '1.12.13', '1.14.13', '1.15.13', '1.18.13'],
    sentence: 'An identifier contains a slash, an ampersand, a vertical bar or a question mark.',
    check(record, report) {
      eachIdentifier(record, (value, element, attribute) => {
        if (element.name === 'other-identifier' || element.name === 'related-activity') return
        if (attribute !== undefined && attribute !== 'ref') return
        if (!symbols.test(value) || isRegistered(value, record.context)) return
        if (element.name === 'iati-identifier' && hasRegisteredPrefix(value, record.context)) return
        report(element, `expected none of / & | ? in ${quoted(value)}`, attribute)
      })
    },
  },
  {
    code: 'reference-empty',
    severity: 'error',
    severityElsewhere: 'warning',
    official: [],
    sentence: 'A reference to an organisation or activity is there but empty; it should be left out.',
    check(record, report) {
      eachIdentifier(record, (value, element, attribute) => {
        if (attribute !== undefined && value.trim() === '')
          report(element, `expected an identifier or no ${attribute} at all, got ""`, attribute)
      })
    },
  },
  {
    code: 'reporting-org-prefix-unknown',
    severity: 'warning',
    official: ['1.14.8', '1.18.8'],
    sentence: 'The identifier of the reporting organisation does not begin with a known registration agency.',
    check(record, report) {
      for (const element of record.children('reporting-org')) unknownAgency(element, record.context, report)
    },
  },
  {
    code: 'organisation-prefix-unknown',
    severity: 'warning',
    official: [],
    sentence: 'The identifier of another organisation does not begin with a known registration agency.',
    check(record, report) {
      const reporting = record.children('reporting-org')[0]?.attributes.ref
      for (const name of organisations) {
        if (name === 'reporting-org') continue
        for (const element of record.all(name)) {
          if (element.attributes.ref !== reporting) unknownAgency(element, record.context, report)
        }
      }
    },
  },
  {
    code: 'reporting-org-other',
    severity: 'error',
    official: [],
    standard: 'schema: reporting-org, "must contain the same @ref"',
    sentence: 'The reporting organisation is not the publisher that the record is published by.',
    check(record, report) {
      const { reportingOrgRef } = record.context
      if (reportingOrgRef === undefined) return
      for (const element of record.children('reporting-org')) {
        const { ref } = element.attributes
        if (ref !== reportingOrgRef)
          report(element, `expected ${quoted(reportingOrgRef)}, got ${quoted(ref ?? '')}`, 'ref')
      }
    },
  },
]
