import { type Element, element } from '../../../../src/kernel/xml/element.js'
import { placed } from '../iati-editing.js'
import { anActivity, anOrganisation, period, value, withAttributes } from '../iati-records.js'
import { items } from './money.js'
import { agency } from './mutant.js'
import { disbursement, org, otherIdentifier } from './parts.js'
import { figure } from './results.js'
/** An activity with what `anActivity` leaves out, so that every mutant finds its place. */
export function aFullActivity(): Element {
  return [
    otherIdentifier('B1', 'XM-DAC-1', org('owner-org', { ref: agency })),
    element('tag', { code: '6', vocabulary: '2' }),
    items('60', '40'),
    disbursement('2027-01-01', '2027-03-31', [
      org('provider-org', { ref: agency, type: '21', 'provider-activity-id': 'XM-DAC-1-7' }),
      org('receiver-org', { ref: agency, type: '24', 'receiver-activity-id': 'XM-DAC-1-7' }),
    ]),
    element('related-activity', { ref: 'XM-DAC-1-7', type: '5' }),
    figure('2', 'baseline', { value: '10' }),
    figure('1', 'target', { value: '10' }),
    figure('5', 'actual', {}),
  ].reduce((grown, added) => placed(grown, '', added), anActivity())
}

/** An organisation with every kind of budget. */
export function aFullOrganisation(): Element {
  const budgeted = element('recipient-region-budget', { status: '1' }, [
    element('recipient-region', { code: '298', vocabulary: '1' }),
    ...period('2026-01-01', '2026-12-31'),
    value('50.00', '2026-01-01'),
  ])
  return withAttributes(placed(anOrganisation(), '', budgeted), { 'last-updated-datetime': '2026-03-01T08:00:00Z' })
}
