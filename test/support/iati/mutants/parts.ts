import { type Element, element } from '../../../../src/kernel/xml/element.js'
import { found, placed, withOnly } from '../iati-editing.js'
import {
  aTransaction,
  narrative,
  period,
  replaced,
  value,
  withAttributes,
  withChildren,
  without,
} from '../iati-records.js'
export const org = (name: string, attributes: Record<string, string>, words = 'An organisation') =>
  element(name, attributes, words === '' ? [] : [narrative(words)])
export const otherIdentifier = (type: string, ref: string, owner?: Element) =>
  element('other-identifier', { type, ref }, [owner])
export const sector = (code: string, attributes: Record<string, string> = {}, words?: string) =>
  element('sector', { code, ...attributes }, words === undefined ? [] : [narrative(words)])
export const country = (code: string, percentage?: string) =>
  element('recipient-country', { code, ...(percentage !== undefined && { percentage }) })
export const region = (code: string, attributes: Record<string, string> = {}) =>
  element('recipient-region', { code, ...attributes })
export const date = (type: string, day: string) => element('activity-date', { type, 'iso-date': day })
export const aid = (name: string, code: string, vocabulary: string) => element(name, { code, vocabulary })
export const emptied = (of: Element) => withChildren(of, () => [])

export const sectorNames = ['sector']
const recipientNames = ['recipient-country', 'recipient-region']
export const withSectors =
  (...sectors: Element[]) =>
  (record: Element) =>
    withOnly(
      withTransactions(record, (one) => without(one, 'sector')),
      sectorNames,
      sectors,
    )
export const withRecipients =
  (...recipients: Element[]) =>
  (record: Element) =>
    withOnly(
      withTransactions(record, (one) => recipientNames.reduce(without, one)),
      [...recipientNames, 'location'],
      recipients,
    )
export const withDates =
  (...dates: Element[]) =>
  (record: Element) => {
    const open = replaced(record, 'activity-status', (status) => withAttributes(status, { code: '2' }))
    return withOnly(open, ['activity-date'], dates)
  }
export const started = date('1', '2024-01-01')

function withTransactions(record: Element, change: (transaction: Element, index: number) => Element): Element {
  let index = -1
  return withChildren(record, (children) =>
    children.map((one) => {
      if (one.name !== 'transaction') return one
      index += 1
      return change(one, index)
    }),
  )
}

/** The activity with two transactions of its own instead of others. */
export function withTwoTransactions(record: Element): Element {
  const plain = withRecipients(country('KE'))(withSectors(sector('14031'))(record))
  return withOnly(
    plain,
    ['transaction'],
    [aTransaction('one', { type: '1', day: '2026-01-31' }), aTransaction('two', { type: '3', day: '2026-02-15' })],
  )
}

/** A change of the second of two transactions. */
export const second = (change: (transaction: Element) => Element) => (record: Element) =>
  withTransactions(record, (one, index) => (index === 1 ? change(one) : one))
export const inEach = (name: Element) => (record: Element) => withTransactions(record, (one) => placedIn(one, name))

/** A child of a transaction at its place. */
export function placedIn(transaction: Element, added: Element): Element {
  const holder = element('iati-activity', {}, [transaction])
  return found(placed(holder, 'transaction', added), 'transaction') ?? transaction
}

export const disbursement = (from: string, to: string, parties: readonly Element[] = []) =>
  element('planned-disbursement', { type: '1' }, [...period(from, to), value('5.00', '2026-01-01'), ...parties])

export function withOnlyRecipients(record: Element, ...recipients: Element[]): Element {
  return withOnly(record, recipientNames, recipients)
}
