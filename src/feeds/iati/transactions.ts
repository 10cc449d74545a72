import { type IsoDate, later, monthEnd } from '../../domain/dates.js'
import { type CurrencyCode, fromMinorUnits, minorUnitExponent, toMinorUnits } from '../../domain/money.js'
import type { DonationMonth, FunderOrganisation, MoneyKind, ProjectGraph } from '../../domain/project.js'
import { type Element, element, textElement } from '../../xml/element.js'
import type { Mapping } from './mapping.js'
import { coded, narrated } from './narrative.js'
import { individualDonors, type Party, partyElement, partyOf, platformParty } from './organisations.js'

/** One line of money as it will be written; `amount` in minor units of its currency. */
type Line = {
  readonly ref: string
  readonly type: '1' | '3' | '4'
  readonly date: IsoDate
  readonly currency: CurrencyCode
  readonly amount: bigint
  readonly description: string
  readonly provider: Party
  readonly receiver?: Party
}

/** Money of the activity by currency, in minor units: what came in and what went out. */
export type MoneyTotals = Readonly<Record<string, { readonly in: bigint; readonly out: bigint }>>

/**
 * `transaction` [0..*] (IATI contract 9): gifts and refunds by month and funder, opening totals, fees, payouts; ordered
 * by date, type and ref. References are deterministic, so that a re-run changes nothing and auditors can match.
 */
export function transactions(
  graph: ProjectGraph,
  implementing: Party | undefined,
  mapping: Mapping,
): { readonly elements: Element[]; readonly totals: MoneyTotals } {
  const lines = [...monthLines(graph, mapping), ...payoutLines(graph, implementing, mapping)]
    .filter((line) => line.amount !== 0n)
    .sort((a, b) => compare(a.date, b.date) || compare(a.type, b.type) || compare(a.ref, b.ref))
  return { elements: lines.map(transaction), totals: sum(lines) }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Months as reported: the sources of one month are one line, funders are lines of their own. */
function monthLines(graph: ProjectGraph, mapping: Mapping): Line[] {
  const merged = new Map<string, DonationMonth & { units: bigint }>()
  for (const month of graph.months) {
    if (month.lastOn > mapping.day) {
      mapping.notice('money-in-future', 'donation_month', `expected a day until ${mapping.day}, got ${month.lastOn}`)
      mapping.changesOn(month.lastOn)
      continue
    }
    // An opening total is dated by its own day, so two sources' openings stay two lines.
    const day = month.kind === 'opening' ? `${month.lastOn} ${month.source}` : ''
    const key = `${month.month} ${month.currency} ${month.kind} ${month.funder?.id ?? ''} ${day}`
    const units = toMinorUnits(month.amount, minorUnitExponent(month.currency))
    const before = merged.get(key)
    merged.set(
      key,
      before
        ? {
            ...before,
            units: before.units + units,
            count: before.count + month.count,
            lastOn: later(before.lastOn, month.lastOn),
          }
        : { ...month, units },
    )
  }
  return [...merged.values()].map((month) => monthLine(graph.project.id, month, mapping))
}

const refPrefixes: Readonly<Record<MoneyKind, string>> = { gift: 'don', refund: 'ref', fee: 'fee', opening: 'open' }

function monthLine(projectId: number, month: DonationMonth & { units: bigint }, mapping: Mapping): Line {
  const { kind, currency, units, funder } = month
  const when = month.month.slice(0, 7)
  const parts = [refPrefixes[kind], projectId, kind === 'opening' ? `${month.lastOn}-${month.source}` : when, currency]
  const platform = platformParty(mapping)
  return {
    ref: [...parts, ...(funder ? [`org${funder.id}`] : [])].join('-'),
    currency,
    amount: units,
    date: kind === 'opening' ? month.lastOn : reportedDay(month, mapping),
    description: describe(month, when, funder),
    ...(kind === 'fee'
      ? { type: '4', provider: platform }
      : { type: '1', provider: funder ? partyOf(funder, mapping) : individualDonors(mapping), receiver: platform }),
  }
}

/** The last day of the month; for the running month the last day on which money moved. */
function reportedDay(month: DonationMonth, mapping: Mapping): IsoDate {
  const end = monthEnd(month.month)
  if (end <= mapping.day) return end
  mapping.changesOn(end)
  return month.lastOn
}

function describe(month: DonationMonth, when: string, funder: FunderOrganisation | undefined): string {
  const donations = month.count === 1 ? '1 donation' : `${month.count} donations`
  switch (month.kind) {
    case 'gift':
      return funder ? `Gifts of ${funder.name} in ${when}` : `${donations} in ${when}`
    case 'refund':
      return `Refunds and corrections in ${when}`
    case 'fee':
      return `Platform and payment fees in ${when}`
    case 'opening':
      return `Donations received until ${month.lastOn}, cumulative (${donations})`
    default:
      return month.kind satisfies never
  }
}

function payoutLines(graph: ProjectGraph, implementing: Party | undefined, mapping: Mapping): Line[] {
  return graph.disbursements.flatMap((payout): Line[] => {
    if (payout.disbursedOn > mapping.day) {
      mapping.notice(
        'money-in-future',
        'disbursement',
        `expected a day until ${mapping.day}, got ${payout.disbursedOn}`,
      )
      mapping.changesOn(payout.disbursedOn)
      return []
    }
    return [
      {
        ref: `pay-${payout.reference}`,
        type: '3',
        date: payout.disbursedOn,
        currency: payout.currency,
        amount: toMinorUnits(payout.amount, minorUnitExponent(payout.currency)),
        description: 'Payout to the implementing partner',
        provider: platformParty(mapping),
        receiver: payout.receiver
          ? partyOf(payout.receiver, mapping)
          : (implementing ?? { name: `Partner of project ${graph.project.id}` }),
      },
    ]
  })
}

function transaction(line: Line): Element {
  const { currency, date } = line
  return element('transaction', { ref: line.ref }, [
    coded('transaction-type', line.type),
    element('transaction-date', { 'iso-date': date }),
    textElement('value', fromMinorUnits(line.amount, minorUnitExponent(currency)), { currency, 'value-date': date }),
    narrated('description', line.description),
    partyElement('provider-org', line.provider),
    line.receiver && partyElement('receiver-org', line.receiver),
  ])
}

function sum(lines: readonly Line[]): MoneyTotals {
  const totals: Record<string, { in: bigint; out: bigint }> = {}
  for (const { currency, type, amount } of lines) {
    totals[currency] ??= { in: 0n, out: 0n }
    totals[currency][type === '1' ? 'in' : 'out'] += amount
  }
  return totals
}
