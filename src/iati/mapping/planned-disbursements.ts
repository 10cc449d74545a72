import { minorUnitExponent, toMinorUnits } from '../../kernel/money.js'
import type { PlannedPayout, ProjectGraph } from '../../kernel/project.js'
import { type Element, element } from '../../kernel/xml/element.js'
import type { MappingContext, Party } from './mapping-context.js'
import { partyElement, standingParties } from './organisations.js'
import { periodElements, valueElement } from './values.js'

/** `planned-disbursement` [0..*]: agreed payouts of days to come that no disbursement of their reference has fulfilled. */
export function plannedDisbursements(
  graph: ProjectGraph,
  receiver: Party | undefined,
  context: MappingContext,
): Element[] {
  if (graph.payoutPlan.length === 0) return []
  const paid = new Set(
    graph.disbursements.filter((payout) => payout.disbursedOn <= context.day).map((payout) => payout.reference),
  )
  const open = graph.payoutPlan.filter((plan) => plan.plannedOn > context.day && !paid.has(plan.reference))
  if (open.length === 0) return []
  for (const plan of open) context.changesOn(plan.plannedOn)
  const { config, language, identifier } = context
  const { platform } = standingParties(config, language)
  const provider = partyElement('provider-org', platform, language, { 'provider-activity-id': identifier })
  const partner = receiver && partyElement('receiver-org', receiver, language)
  return open.map((plan) => planned(plan, provider, partner))
}

function planned({ plannedOn, amount, currency }: PlannedPayout, provider: Element, receiver: Element | undefined) {
  return element('planned-disbursement', { type: '1' }, [
    ...periodElements(plannedOn, plannedOn),
    valueElement(toMinorUnits(amount, minorUnitExponent(currency)), currency, plannedOn),
    provider,
    receiver,
  ])
}
