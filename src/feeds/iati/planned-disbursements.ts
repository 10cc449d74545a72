import { fromMinorUnits, minorUnitExponent, toMinorUnits } from '../../domain/money.js'
import type { PlannedPayout, ProjectGraph } from '../../domain/project.js'
import { type Element, element, textElement } from '../../xml/element.js'
import type { Mapping } from './mapping.js'
import { partyElement, standingParties } from './organisations.js'
import type { Party } from './party.js'

/**
 * `planned-disbursement` [0..*]: agreed payouts whose day is still to come and that no disbursement of their reference has
 * fulfilled; by day, then reference.
 */
export function plannedDisbursements(graph: ProjectGraph, receiver: Party | undefined, mapping: Mapping): Element[] {
  if (graph.payoutPlan.length === 0) return []
  const paid = new Set(
    graph.disbursements.filter((payout) => payout.disbursedOn <= mapping.day).map((payout) => payout.reference),
  )
  const open = graph.payoutPlan.filter((plan) => plan.plannedOn > mapping.day && !paid.has(plan.reference))
  if (open.length === 0) return []
  for (const plan of open) mapping.changesOn(plan.plannedOn)
  const provider = partyElement('provider-org', standingParties(mapping.config).platform, {
    'provider-activity-id': mapping.identifier,
  })
  const partner = receiver && partyElement('receiver-org', receiver)
  return open.map((plan) => planned(plan, provider, partner))
}

function planned({ plannedOn, amount, currency }: PlannedPayout, provider: Element, receiver: Element | undefined) {
  const places = minorUnitExponent(currency)
  return element('planned-disbursement', { type: '1' }, [
    element('period-start', { 'iso-date': plannedOn }),
    element('period-end', { 'iso-date': plannedOn }),
    textElement('value', fromMinorUnits(toMinorUnits(amount, places), places), { currency, 'value-date': plannedOn }),
    provider,
    receiver,
  ])
}
