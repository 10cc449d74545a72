import type { Element } from '../../../kernel/xml/element.js'
import { boxOf, isInside } from '../country-boxes.js'
import { quoted } from '../findings.js'
import { childOf, type RecordView } from '../view.js'
import type { Rule } from './rule.js'
import { allInRange, byAttribute, sharesOf } from './shares.js'

function recipients(record: RecordView): readonly Element[] {
  return [...record.children('recipient-country'), ...record.children('recipient-region')]
}

function hasRecipient(transaction: Element): boolean {
  return Boolean(childOf(transaction, 'recipient-country') ?? childOf(transaction, 'recipient-region'))
}

/**
 * What must add up to 100: the countries together with the regions of each vocabulary. The official validator looks only
 * at regions that write their vocabulary; an absent one means 1.
 */
function groups(record: RecordView): Element[][] {
  const countries = record.children('recipient-country')
  const regions = [...byAttribute(record.children('recipient-region'), 'vocabulary', '1').values()]
  if (regions.length === 0) return countries.length === 0 ? [] : [[...countries]]
  return regions.map((group) => [...countries, ...group])
}

/**
 * Whether the official rules find a fault in the shares of such a group: of countries with regions they add up what is there,
 * and ask regions of a vocabulary that is written for their shares where these are several.
 */
function isReached(group: readonly Element[]): boolean {
  const regions = group.filter(({ name }) => name === 'recipient-region')
  if (regions.length === 0) return true
  const written = new Set(regions.flatMap(({ attributes }) => attributes.vocabulary ?? []))
  return [...written].some((vocabulary) => {
    const parts = group.filter(
      ({ name, attributes }) => name !== regions[0]?.name || attributes.vocabulary === vocabulary,
    )
    const stated = parts.filter(({ attributes }) => attributes.percentage !== undefined)
    const same = parts.filter((one) => regions.includes(one))
    if (same.length > 1 && same.some((one) => !stated.includes(one))) return true
    return parts.length + stated.length > 1 && sharesOf(stated).sum !== undefined
  })
}

const positionPattern = /^\s*(-?\d+(?:\.\d+)?)\s+(-?\d+(?:\.\d+)?)\s*$/

export const geographyRules: readonly Rule[] = [
  {
    code: 'recipient-missing',
    severity: 'error',
    official: ['3.7.1', '3.7.2'],
    sentence: 'The activity names no recipient country or region, and not all of its transactions do.',
    check(record, report) {
      if (record.root.name !== 'iati-activity' || recipients(record).length > 0) return
      const transactions = record.children('transaction')
      const without = transactions.filter((transaction) => !hasRecipient(transaction))
      if (without.length === transactions.length) {
        report(
          record.root,
          'expected a recipient-country or recipient-region on the activity or on all transactions, got none',
        )
        return
      }
      for (const transaction of without)
        report(transaction, 'expected a recipient-country or recipient-region as on the other transactions, got none')
    },
  },
  {
    code: 'recipient-at-both-levels',
    severity: 'error',
    official: ['3.6.2'],
    sentence: 'Recipient countries or regions are named on the activity and on transactions.',
    check(record, report) {
      if (recipients(record).length === 0) return
      const first = record.children('transaction').find(hasRecipient)
      if (first) report(first, 'expected recipients on the activity or on its transactions, got both')
    },
  },
  {
    code: 'recipient-percentage-missing',
    severity: 'error',
    official: ['3.1.1', '3.1.2', '3.4.1', '3.4.2'],
    sentence: 'One of several recipient countries or regions has no percentage.',
    check(record, report) {
      const missing = new Map<Element, boolean>()
      for (const group of groups(record)) {
        const isSeen = isReached(group)
        for (const recipient of sharesOf(group).missing)
          missing.set(recipient, isSeen || (missing.get(recipient) ?? false))
      }
      for (const [recipient, isSeen] of missing)
        report(recipient, 'expected a percentage on each of several recipients, got none', 'percentage', !isSeen)
    },
  },
  {
    code: 'recipient-percentage-sum',
    severity: 'error',
    official: ['3.1.2', '3.1.4', '3.4.2', '3.4.4'],
    sentence: 'The percentages of recipient countries and regions do not add up to 100.',
    check(record, report) {
      for (const group of groups(record)) {
        const { sum } = sharesOf(group)
        const last = group.at(-1)
        if (last && sum !== undefined)
          report(last, `expected 100 for all recipients together, got ${sum}`, 'percentage', !isReached(group))
      }
    },
  },
  {
    code: 'recipient-percentage-range',
    severity: 'error',
    official: ['12.1.1'],
    sentence: 'The percentage of a recipient country or region lies outside 0 to 100.',
    check: (record, report) => allInRange(recipients(record), report),
  },
  {
    code: 'position-unreadable',
    severity: 'error',
    severityElsewhere: 'warning',
    official: [],
    sentence: 'A position is not a latitude and a longitude with a space between them.',
    check(record, report) {
      for (const pos of record.all('pos')) {
        const [, latitude = '', longitude = ''] = positionPattern.exec(pos.text) ?? []
        if (latitude !== '' && Math.abs(Number(latitude)) <= 90 && Math.abs(Number(longitude)) <= 180) continue
        report(pos, `expected a latitude (-90 to 90) and a longitude (-180 to 180), got ${quoted(pos.text)}`)
      }
    },
  },
  {
    code: 'position-swapped',
    severity: 'warning',
    official: [],
    sentence:
      'A position lies far outside the recipient countries, but inside one when latitude and longitude are exchanged.',
    check(record, report) {
      const positions = record.all('pos')
      if (positions.length === 0 || record.children('recipient-region').length > 0) return
      const codes = [...new Set(record.all('recipient-country').map(({ attributes }) => attributes.code ?? ''))]
      const boxes = codes.map(boxOf).filter((box) => box !== undefined)
      // Of a country without a box nothing can be said.
      if (boxes.length === 0 || boxes.length < codes.length) return
      for (const pos of positions) {
        const [, latitude, longitude] = positionPattern.exec(pos.text) ?? []
        const [north, east] = [Number(latitude), Number(longitude)]
        if (latitude === undefined || boxes.some((box) => isInside(box, north, east))) continue
        if (boxes.some((box) => isInside(box, east, north)))
          report(pos, `expected latitude, then longitude, in ${codes.join(' or ')}, got ${quoted(pos.text)}`)
      }
    },
  },
]
