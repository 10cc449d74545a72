import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../kernel/dates.js'
import type { Store } from '../../../platform/database/store.js'
import { together } from '../../../platform/database/together.js'
import {
  type ChargeEntry,
  enterCharges,
  enterRefund,
  findCharge,
  findChargeById,
  listSandboxEntries,
  type SandboxCharge,
} from '../../sql/sandbox-charges.js'
import { declineOf } from '../declines.js'
import { type Charge, type ChargeOutcome, type Gateway, GatewayRefusal } from '../gateway.js'
import { scenarioOf, slowMs } from './sandbox-scenarios.js'

/**
 * A gateway without a network: the nonce and the amount alone decide what happens (docs/reference/payments.md). Its charges are in
 * its own tables, which only this file's functions and `giving books check` read.
 */
export function createSandboxGateway({ store, clock }: { readonly store: Store; readonly clock: Clock }): Gateway {
  const entries = together((charges: readonly ChargeEntry[]) => enterCharges(store.db, charges))
  const enter = async (charge: Charge, declineCode: number | undefined): Promise<ChargeOutcome> => {
    const { reference, amount, currency } = charge
    return toOutcome(await entries({ reference, amount, currency, declineCode, at: clock() }))
  }
  return {
    name: 'sandbox',
    wireNames: ['braintree', 'sandbox'],
    lateSeconds: 5,
    testNonce: 'fake-valid-nonce',
    describeAccount: async () => 'the sandbox of this service, without an account',
    clientToken: async () => 'sandbox-client-token',
    charge: async (charge, signal) => {
      const { method, amount, reference } = charge
      const scenario = scenarioOf(method.kind === 'nonce' ? method.nonce : method.token, amount)
      // Entering finds what is there; these scenarios do not enter at once.
      const enters = scenario.kind === 'approved' || scenario.kind === 'declined' || scenario.kind === 'unknown'
      const earlier = charge.again && !enters ? await findCharge(store.db, reference) : undefined
      if (earlier) return toOutcome(earlier)
      switch (scenario.kind) {
        case 'approved':
          return await enter(charge, undefined)
        case 'declined':
          return await enter(charge, scenario.code)
        case 'slow':
          await sleep(slowMs, undefined, { signal })
          return await enter(charge, undefined)
        case 'silent-before':
          return await silence(signal)
        case 'silent-after':
          await enter(charge, undefined)
          return await silence(signal)
        case 'down':
          throw new GatewayRefusal('the sandbox gateway cannot be reached')
        case 'unknown':
          return await enter(charge, 2038)
        default:
          return scenario satisfies never
      }
    },
    findByReference: async ({ reference }) => {
      const charge = await findCharge(store.db, reference)
      return charge && { outcome: toOutcome(charge), amount: charge.amount, currency: charge.currency }
    },
    refund: async ({ reference, chargeReference, amount }) => {
      const id = await enterRefund(store.db, { reference, chargeReference, amount, at: clock() })
      if (id === undefined) throw new GatewayRefusal(`nothing of this amount is left of the charge ${chargeReference}`)
      return { refundId: `sandbox-refund-${id}` }
    },
    readCharge: async (chargeId) => {
      const charge = await findChargeById(store.db, Number(/^sandbox-(\d{1,15})$/.exec(chargeId)?.[1] ?? 0))
      if (!charge) return undefined
      const { reference, at, amount, currency, declineCode, refunds } = charge
      const progress = declineCode === undefined ? 'settled' : 'failed'
      return { chargeId, reference, at, amount, currency, progress, refunds, disputes: [] }
    },
    settledBetween: (from, until) => listSandboxEntries(store.db, from, until),
    settlesWithinDays: 0,
  }
}

function toOutcome({ id, declineCode, amount, currency }: SandboxCharge): ChargeOutcome {
  return declineCode === undefined
    ? { kind: 'approved', chargeId: `sandbox-${id}`, charged: { amount, currency } }
    : { kind: 'declined', decline: declineOf(declineCode) }
}

/** Does not answer until the caller gives up. */
async function silence(signal: AbortSignal): Promise<never> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  throw new Error('the sandbox gateway did not answer')
}
