import { element } from '../../../../src/kernel/xml/element.js'
import { aTransaction, documentLink, narrative, replaced, withAttributes, withChildren } from '../iati-records.js'
import { activity, child, type Mutant, organisation } from './mutant.js'
import { disbursement, emptied, org, otherIdentifier } from './parts.js'
/** Rules about words, names and languages. */
export const textMutants: readonly Mutant[] = [
  activity('4.1.1', 'language-missing', 'no language', (record) => withAttributes(record, { 'xml:lang': undefined })),
  organisation('4.5.1', 'language-missing', 'no language', (record) =>
    withAttributes(record, { 'xml:lang': undefined }),
  ),
  activity('4.3.1', 'title-empty', 'a title without narrative', (record) => replaced(record, 'title', emptied)),
  child('4.3.1', 'title-empty', 'a title of a document without words', (bad) =>
    replaced(documentLink('https://giving.example/8'), 'title', (title) =>
      bad ? withChildren(title, () => [narrative('')]) : title,
    ),
  ),
  activity('4.4.1', 'description-empty', 'a description without narrative', (record) =>
    replaced(record, 'description', emptied),
  ),
  child('4.4.1', 'description-empty', 'a description of a transaction without words', (bad) =>
    replaced(aTransaction('new', { type: '1', day: '2026-01-01' }), 'description', (text) =>
      bad ? emptied(text) : text,
    ),
  ),
  child('6.8.1', 'organisation-unnamed', 'an owner without ref and name', (bad) =>
    otherIdentifier('A2', '7', org('owner-org', {}, bad ? '' : 'An owner')),
  ),
  child('6.9.1', 'organisation-unnamed', 'a provider without ref and name', (bad) =>
    disbursement('2027-01-01', '2027-01-31', [org('provider-org', {}, bad ? '' : 'A provider')]),
  ),
  child('6.9.1', 'organisation-unnamed', 'a provider of a transaction without ref and name', (bad) =>
    replaced(aTransaction('new', { type: '1', day: '2026-01-01' }), 'provider-org', (own) =>
      bad ? emptied(own) : own,
    ),
  ),
  child('6.9.2', 'organisation-unnamed', 'a receiver without ref and name', (bad) =>
    disbursement('2027-01-01', '2027-01-31', [org('receiver-org', {}, bad ? '' : 'A receiver')]),
  ),
  child('6.9.2', 'organisation-unnamed', 'a receiver of a transaction without ref and name', (bad) =>
    replaced(aTransaction('new', { type: '1', day: '2026-01-01' }), 'receiver-org', (own) =>
      bad ? emptied(own) : own,
    ),
  ),
  child('6.10.1', 'organisation-unnamed', 'a participant without ref and name', (bad) =>
    org('participating-org', { role: '1' }, bad ? '' : 'A participant'),
  ),
  child('6.13.1', 'policy-marker-narrative', 'an own policy marker without words', (bad) =>
    element('policy-marker', { vocabulary: '99', code: 'own' }, bad ? [] : [narrative('Own')]),
  ),
  child('6.14.1', 'policy-marker-significance', 'a policy marker without significance', (bad) =>
    element('policy-marker', bad ? { code: '2' } : { code: '2', significance: '1' }),
  ),
]
