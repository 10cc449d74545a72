import type { Gateway } from '../../../../src/money/gateways/gateway.js'
import type { ProcessorAddress } from '../../../../src/money/gateways/processor-calls.js'
import { createSandboxGateway } from '../../../../src/money/gateways/sandbox/sandbox-gateway.js'
import type { Store } from '../../../../src/platform/database/store.js'
import { quick } from '../../../support/money/donations.js'
import { braintreeKeys, startBraintree } from '../../../support/servers/braintree-server.js'
import { type ProcessorServer, toText, unknownNonces } from '../../../support/servers/processor-server.js'
import { startStripe, stripeKeys } from '../../../support/servers/stripe-server.js'

/** Whose charges a campaign makes: those of the sandbox, or of a stand-in for a processor. */
export const processorNames = ['sandbox', 'braintree', 'stripe'] as const
export type ProcessorName = (typeof processorNames)[number]

/** How a process reaches the processor of its campaign. */
export type ProcessorPlace = { readonly name: ProcessorName; readonly address?: ProcessorAddress }

/** The processor of a campaign. */
export type CampaignProcessor = {
  readonly place: ProcessorPlace
  /** The value of `paymentGateway`. */
  readonly wireName: string
  readonly nonces: readonly string[]
  /** Whether some donations are the first of a plan. */
  readonly takesPlans: boolean
  /** What the donor answers to the bank; of no use where no bank asks. */
  confirm(clientSecret: string, yes: boolean): void
  /** Puts its clock ahead, as that of the processes that charge: what it lists is since a time of theirs. */
  beAhead(ms: number): void
  /** Lets the money of all slow payments come, and of none. */
  payAll(): void
  /** Settles what was approved, as a processor does once a day. */
  settleAll(): void
  /** References with more than nothing held, one entry for each charge, and the sum of what is held. */
  held(store: Store): Promise<{ readonly references: readonly string[]; readonly sum: string }>
  close(): Promise<void>
}

const usual = [
  ...Array<string>(12).fill('fake-valid-nonce'),
  ...['fake-timeout-after-nonce', 'fake-timeout-after-nonce', 'fake-timeout-before-nonce', 'fake-down-nonce'],
  'fake-declined-2001-nonce',
]

// The bank asks the donor, its question is lost, the money takes days.
const waiting = [
  ...Array<string>(6).fill('pm_card_authenticationRequired'),
  ...['fake-authentication-lost-nonce', 'fake-authentication-lost-nonce', 'pm_sepa_debit_of_the_tests'],
]

export async function startCampaignProcessor(name: ProcessorName): Promise<CampaignProcessor> {
  if (name === 'sandbox') return sandboxProcessor()
  const server: ProcessorServer = name === 'braintree' ? await startBraintree() : await startStripe()
  const { ledger, address } = server
  const faults = [...unknownNonces.map(([nonce]) => nonce), 'fake-doubled-nonce']
  return {
    place: { name, address },
    wireName: name,
    nonces: [...usual, ...usual, ...faults, ...(name === 'stripe' ? waiting : [])],
    takesPlans: true,
    confirm: (secret, yes) => {
      const charge = ledger.charges.find(({ id }) => secret.startsWith(`${id}_`))
      if (charge?.waits === 'donor' && !charge.voided) ledger.decide(charge, yes ? 'paid' : 'declined')
    },
    beAhead: (ms) => {
      ledger.now = () => Date.now() + ms
    },
    payAll: () => {
      for (const charge of ledger.charges.filter(({ waits }) => waits === 'processor')) ledger.decide(charge, 'paid')
    },
    settleAll: () => {
      for (const charge of ledger.approved()) if (!charge.settled && !charge.voided) ledger.settle(charge)
    },
    held: async () => {
      const charges = ledger.approved().filter((charge) => ledger.left(charge) > 0)
      const cents = charges.reduce((sum, charge) => sum + ledger.left(charge), 0)
      return { references: charges.map(({ reference }) => reference), sum: toText(cents) }
    },
    close: () => server.close(),
  }
}

function sandboxProcessor(): CampaignProcessor {
  return {
    place: { name: 'sandbox' },
    wireName: 'braintree',
    nonces: usual,
    takesPlans: false,
    confirm: () => undefined,
    beAhead: () => undefined,
    payAll: () => undefined,
    settleAll: () => undefined,
    held: async (store) => {
      const { rows } = await store.db.query<{ reference: string; sum: string }>(
        `select reference, (sum("left") over ())::numeric(18, 2)::text as sum from (
            select c.reference, c.amount - coalesce((select sum(amount) from sandbox_refund where charge_id = c.id), 0) as "left"
            from sandbox_charge c where c.decline_code is null) charge
          where "left" > 0`,
      )
      return { references: rows.map(({ reference }) => reference), sum: rows[0]?.sum ?? '0.00' }
    },
    close: async () => undefined,
  }
}

/** The gateway of a process in a campaign, whose charges are never late. */
export async function campaignGateway(place: ProcessorPlace, store: Store, timeoutMs: number): Promise<Gateway> {
  const { name, address } = place
  if (name === 'braintree') {
    const { createBraintreeGateway } = await import('../../../../src/extensions/braintree/braintree-gateway.js')
    return quick(
      createBraintreeGateway({ environment: 'sandbox', ...braintreeKeys, currency: 'USD', timeoutMs, address }),
    )
  }
  if (name === 'stripe') {
    const { createStripeGateway } = await import('../../../../src/extensions/stripe/stripe-gateway.js')
    return quick(createStripeGateway({ ...stripeKeys, timeoutMs, address }))
  }
  return quick(createSandboxGateway({ store, clock: () => new Date() }))
}
