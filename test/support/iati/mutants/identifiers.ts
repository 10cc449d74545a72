import { type Element, element } from '../../../../src/kernel/xml/element.js'
import { found } from '../iati-editing.js'
import { replaced, withAttributes } from '../iati-records.js'
import { activity, agency, attribute, child, isActivity, type Mutant, organisation } from './mutant.js'
import { org, otherIdentifier } from './parts.js'

function spaces(breaks: string, place: [kind: 'activity' | 'organisation', path: string, name: string]): Mutant {
  return attribute(breaks, 'identifier-spaces', place, agency, ` ${agency}`)
}

function symbols(breaks: string, place: [kind: 'activity' | 'organisation', path: string, name: string]): Mutant[] {
  return ['/', '&', '|', '?'].map((symbol) =>
    attribute(breaks, 'identifier-symbols', place, agency, `${agency}${symbol}1`),
  )
}

const ownText = (path: string, change: (text: string, record: Element) => string) => (record: Element) =>
  replaced(record, path, (own) => ({ ...own, text: change(own.text, record) }))
const reportingRef = (record: Element) => found(record, 'reporting-org')?.attributes.ref ?? ''

/** Rules about identifiers. */
export const identifierMutants: readonly Mutant[] = [
  activity(
    '1.1.3',
    'identifier-of-organisation',
    'the identifier is that of the organisation',
    ownText('iati-identifier', (_, record) => reportingRef(record)),
  ),
  activity(
    '1.1.21',
    'identifier-prefix',
    'the identifier has another prefix',
    ownText('iati-identifier', () => 'XI-IATI-1-7'),
  ),
  activity(
    '1.3.1',
    'identifier-spaces',
    'the identifier ends with a newline',
    ownText('iati-identifier', (text) => `${text}\n`),
  ),
  activity(
    '1.3.13',
    'identifier-symbols',
    'the identifier has a slash',
    ownText('iati-identifier', (text) => `${text}/1`),
  ),
  spaces('1.4.1', ['activity', 'transaction/provider-org', 'provider-activity-id']),
  spaces('1.4.1', ['activity', 'planned-disbursement/provider-org', 'provider-activity-id']),
  spaces('1.5.1', ['activity', 'transaction/receiver-org', 'receiver-activity-id']),
  spaces('1.5.1', ['activity', 'planned-disbursement/receiver-org', 'receiver-activity-id']),
  child('1.6.1', 'identifier-spaces', 'an earlier activity identifier begins with a blank', (bad) =>
    otherIdentifier('A3', bad ? ' XM-DAC-1-7' : 'XM-DAC-1-7'),
  ),
  child('1.7.1', 'identifier-spaces', 'a related activity ends with a blank', (bad) =>
    element('related-activity', { type: '1', ref: bad ? 'XM-DAC-1-7 ' : 'XM-DAC-1-7' }),
  ),
  spaces('1.8.1', ['activity', 'participating-org', 'ref']),
  ...symbols('1.8.13', ['activity', 'participating-org', 'ref']),
  spaces('1.9.1', ['activity', 'participating-org', 'activity-id']),
  spaces('1.10.1', ['activity', 'transaction/provider-org', 'ref']),
  spaces('1.10.1', ['activity', 'planned-disbursement/provider-org', 'ref']),
  ...symbols('1.10.13', ['activity', 'transaction/provider-org', 'ref']),
  ...symbols('1.10.13', ['activity', 'planned-disbursement/provider-org', 'ref']),
  child('1.11.1', 'identifier-spaces', 'an owner begins with a blank', (bad) =>
    otherIdentifier('A2', '7', org('owner-org', { ref: bad ? ` ${agency}` : agency })),
  ),
  child('1.11.13', 'identifier-symbols', 'an owner has an ampersand', (bad) =>
    otherIdentifier('A2', '7', org('owner-org', { ref: bad ? `${agency}&1` : agency })),
  ),
  organisation(
    '1.12.1',
    'identifier-spaces',
    'the identifier begins with a blank',
    ownText('organisation-identifier', (text) => ` ${text}`),
  ),
  organisation(
    '1.12.13',
    'identifier-symbols',
    'the identifier has a bar',
    ownText('organisation-identifier', (text) => `${text}|1`),
  ),
  activity('1.14.1', 'identifier-spaces', 'the reporting organisation ends with a blank', (record) =>
    replaced(record, 'reporting-org', (own) => withAttributes(own, { ref: `${own.attributes.ref} ` })),
  ),
  attribute('1.14.8', 'reporting-org-prefix-unknown', ['activity', 'reporting-org', 'ref'], undefined, 'XX-NONE-7'),
  activity('1.14.13', 'identifier-symbols', 'the reporting organisation has a slash', (record) =>
    replaced(record, 'reporting-org', (own) => withAttributes(own, { ref: `${own.attributes.ref}/1` })),
  ),
  spaces('1.15.1', ['activity', 'transaction/receiver-org', 'ref']),
  spaces('1.15.1', ['activity', 'planned-disbursement/receiver-org', 'ref']),
  ...symbols('1.15.13', ['activity', 'transaction/receiver-org', 'ref']),
  ...symbols('1.15.13', ['activity', 'planned-disbursement/receiver-org', 'ref']),
  child('1.16.1', 'identifier-spaces', 'an earlier publisher identifier ends with a tab', (bad) =>
    otherIdentifier('B1', bad ? 'XM-DAC-1\t' : 'XM-DAC-1'),
  ),
  spaces('1.17.1', ['organisation', 'recipient-org-budget/recipient-org', 'ref']),
  spaces('1.18.1', ['organisation', 'reporting-org', 'ref']),
  attribute('1.18.8', 'reporting-org-prefix-unknown', ['organisation', 'reporting-org', 'ref'], agency, 'XX-NONE-7'),
  ...symbols('1.18.13', ['organisation', 'reporting-org', 'ref']),
].map((mutant) =>
  // An activity's own identifier begins with the reference, so the sound one keeps it.
  mutant.breaks === '1.14.8'
    ? {
        ...mutant,
        make: (record: Element) =>
          isActivity(record) ? { sound: record, broken: mutant.make(record)?.broken ?? record } : undefined,
      }
    : mutant,
)
