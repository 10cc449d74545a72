import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { toServiceError } from '../kernel/errors.js'
import { roundToCurrency, sameAmount } from '../kernel/money.js'
import { type FoundCharge, isSandbox, withTimeout } from './gateways/gateway.js'
import { type Payments, usualLimits } from './payments.js'
import { hasWebhooks } from './sql/webhook-events.js'

export type GatewayStep = {
  readonly step: 'account' | 'settings' | 'client token' | 'sale' | 'search' | 'refund'
  readonly ok: boolean
  readonly detail: string
}

const searchEveryMs = 2_000
const searches = 15

/**
 * Tries the gateway: account, what is missing in its settings, client token, a sale of the smallest donation with this nonce, the search for it, and its
 * refund; outside of the books. Real money moves only with a nonce that is given. Ends with the first step that fails, but for a
 * sale that may have been made, which is searched for and given back.
 */
export async function* checkGateway(payments: Payments, nonce: string | undefined): AsyncGenerator<GatewayStep> {
  const { store, gateway, timeoutMs, currency, limits } = payments
  const call = <T>(work: (signal: AbortSignal) => Promise<T>) => withTimeout(timeoutMs, work)
  const [reference, since] = [`check-${randomUUID()}`, new Date()]
  const amount = roundToCurrency((limits[currency] ?? usualLimits).least, currency)

  const account = await attempt('account', () => call((signal) => gateway.describeAccount(signal)))
  yield account
  if (!account.ok) return
  // A failure here does not end the check.
  if (gateway.listLacks) {
    const { listLacks, notes = [], webhooks } = gateway
    yield await attempt('settings', async () => {
      const lacks = await call((signal) => listLacks(Object.keys(limits), signal))
      if (lacks.length > 0) throw new Error(lacks.join('; '))
      const kinds = webhooks?.unseenKinds
      const unseen =
        kinds && !(await hasWebhooks(store.db, gateway.name))
          ? [`no webhook has come yet; it must send ${kinds.join(', ')}`]
          : []
      return ['nothing is missing', ...notes, ...unseen].join('; ')
    })
  }
  const token = await attempt('client token', async () => {
    const { length } = await call((signal) => gateway.clientToken(signal))
    return `${length} characters`
  })
  yield token
  if (!token.ok) return

  const method = { kind: 'nonce', nonce: nonce ?? gateway.testNonce } as const
  if (nonce === undefined && !isSandbox(gateway)) {
    yield { step: 'sale', ok: true, detail: 'left out: real money moves only with --nonce' }
    return
  }
  const sale = await attempt('sale', async () => {
    const charge = { reference, amount, currency, gatewayKey: '', method, payer: {} }
    const outcome = await call((signal) => gateway.charge(charge, signal))
    if (outcome.kind === 'declined') throw new Error(`declined with ${outcome.decline.code}: ${outcome.decline.text}`)
    if (outcome.kind !== 'approved') throw new Error(`the payment is not complete: ${outcome.kind}`)
    return `${amount} ${currency}, ${outcome.chargeId}`
  })
  yield sale

  let found: FoundCharge | undefined
  const search = await attempt('search', async () => {
    for (let round = 1; found === undefined && round <= searches; round++) {
      if (round > 1) await sleep(searchEveryMs)
      found = await call((signal) => gateway.findByReference({ reference, since }, signal))
      if (!sale.ok) break
    }
    if (!found) throw new Error(`no charge has the reference ${reference}`)
    const says = `${found.amount} ${found.currency}`
    if (!sameAmount(found.amount, amount) || found.currency !== currency) throw new Error(`another amount: ${says}`)
    return `${says} under ${reference}`
  })
  yield search

  const outcome = found?.outcome
  if (outcome?.kind !== 'approved') return
  yield await attempt('refund', async () => {
    // The books check ignores charges of the sandbox that were refunded under this reference.
    const refund = { reference: `${reference}-late`, chargeReference: reference, chargeId: outcome.chargeId }
    const given = found?.amount ?? amount
    const { refundId } = await call((signal) => gateway.refund({ ...refund, amount: given, currency }, signal))
    return refundId
  })
}

async function attempt(step: GatewayStep['step'], work: () => Promise<string>): Promise<GatewayStep> {
  try {
    return { step, ok: true, detail: await work() }
  } catch (error) {
    return { step, ok: false, detail: toServiceError(error).message }
  }
}
