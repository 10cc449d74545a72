import type { IncomingMessage } from 'node:http'
import type braintree from 'braintree'
import {
  type LedgerCharge,
  type LedgerRefund,
  type ProcessorAnswer,
  ProcessorLedger,
  type ProcessorServer,
  readNonce,
  startProcessor,
  toCents,
  toText,
} from './processor-server.js'

/** Merchant accounts, by their names. */
const accounts: Readonly<Record<string, string>> = {
  giving_usd: 'USD',
  giving_eur: 'EUR',
  giving_jpy: 'JPY',
  giving_kwd: 'KWD',
}

export const braintreeKeys = {
  merchantId: 'use_your_merchant_id',
  publicKey: 'public_key_9f2c',
  privateKey: 'private_key_71ab',
  merchantAccount: 'giving_usd',
}

type Sale = {
  readonly amount: string
  readonly order_id: string
  readonly merchant_account_id: string
  readonly payment_method_nonce?: string
  readonly payment_method_token?: string
  readonly transaction_source?: string
  readonly options: {
    readonly submit_for_settlement: boolean
    readonly store_in_vault_on_success?: boolean
    readonly three_d_secure?: { readonly required: boolean }
  }
}

type Criteria = {
  readonly order_id?: { readonly starts_with: string }
  readonly settled_at?: { readonly min: string; readonly max: string }
}

/** Names of the library as Braintree's XML has them. */
type Hyphenated<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${Hyphenated<Rest>}`
  : S

/** Members of a transaction that the types of the library know, or that it reads without them. */
type TransactionFields = { readonly [name in Hyphenated<keyof braintree.Transaction>]?: string }

/** The nonce of a bank account, whose debit takes days. */
const debitNonce = 'us_bank_account_of_the_tests'

/** Answers of the gateway itself in place of a code of the card's issuer. */
const rejections: Readonly<Record<string, string>> = {
  'fake-gateway-rejected-fraud-nonce': 'fraud',
  'fake-gateway-rejected-cvv-nonce': 'cvv',
  'fake-gateway-rejected-avs-nonce': 'avs',
  'fake-gateway-rejected-three-d-secure-nonce': 'three_d_secure',
}

/** Nonces of cards whose owner was authenticated, and whether their bank answers for fraud. */
const threeDSecureNonces: Readonly<Record<string, boolean>> = {
  'fake-three-d-secure-visa-full-authentication-nonce': true,
  'fake-three-d-secure-visa-attempts-non-participating-nonce': false,
}

export type BraintreeServer = ProcessorServer & {
  /** What its client tokens say of the account. */
  readonly account: { threeDSecureEnabled: boolean }
}

/**
 * A server that speaks Braintree's XML as its public documentation and its Node library describe it; what happens is
 * decided by the nonce.
 */
export async function startBraintree(): Promise<BraintreeServer> {
  const ledger = new ProcessorLedger()
  const account = { threeDSecureEnabled: true }
  const rejected = new Map<string, string>()
  const authenticated = new Map<string, boolean>()
  return { ...(await startProcessor(ledger, answer)), account }

  function answer(request: IncomingMessage, body: string): ProcessorAnswer {
    const expected = `Basic ${Buffer.from(`${braintreeKeys.publicKey}:${braintreeKeys.privateKey}`).toString('base64')}`
    if (request.headers.authorization !== expected) return { status: 401, type: 'text/plain', body: 'no' }
    const root = `/merchants/${braintreeKeys.merchantId}`
    const { method, url = '' } = request
    if (!url.startsWith(root)) return { status: 404, type: 'text/plain', body: '' }
    const given = body === '' ? {} : JSON.parse(body)
    const [, kind, id = '', verb = ''] = url.slice(root.length).split('/')
    if (kind === 'client_token') {
      const token = Buffer.from(JSON.stringify({ version: 2, ...account })).toString('base64')
      return xml(201, element('client-token', element('value', token)))
    }
    if (kind === 'merchant_accounts') {
      if (!accounts[id]) return { status: 404, type: 'text/plain', body: '' }
      const fields = { id, status: 'active', 'currency-iso-code': accounts[id] }
      return xml(200, element('merchant-account', elements(fields)))
    }
    if (kind === 'transactions' && id === '' && method === 'POST') return sale(given.transaction as Sale)
    if (kind === 'transactions' && id === 'advanced_search_ids') return search(given.search)
    if (kind === 'transactions' && id === 'advanced_search') return listed(given.search.ids)
    const charge = ledger.charges.find((item) => item.id === id)
    const credit = ledger.charges.flatMap((item) => item.refunds.map((refund) => ({ refund, of: item })))
    const back = credit.find(({ refund }) => refund.id === id)
    if (back && method === 'GET') return xml(200, refundXml(back.of, back.refund))
    if (!charge) return { status: 404, type: 'text/plain', body: '' }
    if (verb === '') return xml(200, transactionXml(charge))
    return verb === 'void' ? voidCharge(charge) : refund(charge, given.transaction)
  }

  function sale(wanted: Sale): ProcessorAnswer {
    const given = wanted.payment_method_nonce ?? wanted.payment_method_token ?? ''
    const kept = ledger.keptMethods.get(given)
    if ((kept !== undefined) !== (wanted.transaction_source === 'recurring')) {
      return invalid('91518', 'payment_method_token', wanted)
    }
    const declinedKept = kept === undefined ? undefined : ledger.declinesOfKept.shift()
    const nonce = declinedKept === undefined ? (kept ?? given) : `fake-declined-${declinedKept}-nonce`
    const shifted = threeDSecureNonces[nonce]
    const rejection =
      rejections[nonce] ??
      (wanted.options.three_d_secure?.required && shifted === undefined ? 'three_d_secure' : undefined)
    const behaviour = rejection
      ? { fault: { kind: 'answer' } as const, slowMs: 0 }
      : readNonce(shifted === undefined && nonce !== debitNonce ? nonce : 'fake-valid-nonce', wanted.amount)
    if (!behaviour) {
      const field = wanted.payment_method_nonce === undefined ? 'payment_method_token' : 'payment_method_nonce'
      return invalid(field === 'payment_method_token' ? '91518' : '91565', field, wanted)
    }
    const { fault, slowMs: delayMs, code } = { code: undefined, ...behaviour }
    if (fault.kind === 'refused') return { status: 429, type: 'text/plain', body: '' }
    const answered = (charge: LedgerCharge, status = 201) =>
      xml(status, transactionXml(charge, wanted), { fault, delayMs })
    if ('charged' in fault && !fault.charged) return { status: 201, type: 'application/xml', body: '', fault }
    const cents = toCents(wanted.amount) + (fault.kind === 'other-amount' ? 100 : 0)
    const currency = accounts[wanted.merchant_account_id]
    if (currency === undefined) return invalid('91513', 'merchant_account_id', wanted)
    const [reference = ''] = wanted.order_id.split('.')
    const token = wanted.options.store_in_vault_on_success ? `kept_${ledger.nextId()}` : undefined
    if (token !== undefined) ledger.keptMethods.set(token, shifted === undefined ? nonce : 'fake-valid-nonce')
    const keeps = token !== undefined && { kept: { token } }
    const waits = nonce === debitNonce && ({ waits: 'processor' } as const)
    const entry = { reference, carried: wanted.order_id, amount: cents, currency, ...keeps, ...waits }
    const reason = rejection
    if (reason !== undefined) rejected.set(reference, reason)
    const declineCode = code ?? (reason === undefined ? undefined : 0)
    const charge = ledger.charge({ ...entry, id: ledger.nextId(), ...(declineCode !== undefined && { declineCode }) })
    if (shifted !== undefined) authenticated.set(charge.id, shifted)
    if (fault.kind === 'doubled') {
      // The network delivered the request twice: the second is rejected, and its answer is the one that arrives.
      const second = ledger.charge({ ...entry, id: ledger.nextId(), declineCode: 0 })
      return declinedAnswer(second, wanted, 'duplicate')
    }
    if (declineCode !== undefined) return declinedAnswer(charge, wanted, reason)
    return answered(charge)
  }

  function declinedAnswer(charge: LedgerCharge, wanted: Sale, reason?: string): ProcessorAnswer {
    if (reason !== undefined) rejected.set(charge.id, reason)
    const message = element('message', 'Declined')
    const errors = element('errors', element('errors', '', 'array'))
    return xml(422, element('api-error-response', errors + params(wanted) + message + transactionXml(charge, wanted)))
  }

  function invalid(code: string, field: string, wanted: object): ProcessorAnswer {
    const fields =
      element('code', code) + element('attribute', field, 'symbol') + element('message', 'It is not valid.')
    const list = element('errors', element('error', fields), 'array')
    const errors = element('errors', element('errors', '', 'array') + element('transaction', list))
    return xml(422, element('api-error-response', errors + params(wanted) + element('message', 'It is not valid.')))
  }

  function search(criteria: Criteria): ProcessorAnswer {
    const list = element(
      'ids',
      idsOf(criteria)
        .map((id) => element('item', id))
        .join(''),
      'array',
    )
    return xml(200, element('search-results', element('page-size', '50', 'integer') + list))
  }

  function found(start: string): string[] {
    return ledger.charges.flatMap(({ id, reference, carried = reference }) => (carried.startsWith(start) ? [id] : []))
  }

  function idsOf({ order_id, settled_at }: Criteria): string[] {
    if (order_id) return found(order_id.starts_with)
    if (!settled_at) return []
    const [min, max] = [Date.parse(settled_at.min), Date.parse(settled_at.max)]
    const within = (at: number) => at >= min && at <= max
    return ledger.charges.flatMap((charge) => [
      ...(charge.settled && within(charge.settledAt) ? [charge.id] : []),
      ...charge.refunds.filter(({ at }) => within(at)).map(({ id }) => id),
    ])
  }

  function listed(ids: readonly string[]): ProcessorAnswer {
    const found = ledger.charges.flatMap((charge) => [
      ...(ids.includes(charge.id) ? [transactionXml(charge)] : []),
      ...charge.refunds.filter(({ id }) => ids.includes(id)).map((refund) => refundXml(charge, refund)),
    ])
    return xml(200, element('credit-card-transactions', found.join(''), 'collection'))
  }

  function voidCharge(charge: LedgerCharge): ProcessorAnswer {
    if (charge.settled || charge.voided) return invalid('91504', 'base', {})
    charge.voided = true
    return xml(200, transactionXml(charge))
  }

  function refund(charge: LedgerCharge, { amount, order_id: reference }: { amount: string; order_id: string }) {
    if (!charge.settled) return invalid('91506', 'base', {})
    if (ledger.left(charge) === 0) return invalid('91512', 'base', {})
    if (toCents(amount) > ledger.left(charge)) return invalid('91521', 'amount', {})
    return xml(
      201,
      refundXml(charge, ledger.refund(charge, { id: ledger.nextId(), reference, amount: toCents(amount) })),
    )
  }

  function transactionXml(charge: LedgerCharge, request?: Sale): string {
    const {
      id,
      reference,
      carried = reference,
      at,
      amount,
      captured = amount,
      currency,
      declineCode,
      settled,
      voided,
      failed,
      waits,
      refunds,
      disputes,
    } = charge
    const reason = rejected.get(id) ?? (declineCode === 0 ? rejected.get(reference) : undefined)
    const open = request && !request.options.submit_for_settlement ? 'authorized' : 'submitted_for_settlement'
    const refused = declineCode === 3000 ? 'failed' : 'processor_declined'
    const status =
      declineCode === undefined
        ? voided || failed
          ? voided
            ? 'voided'
            : 'settlement_declined'
          : settled
            ? 'settled'
            : waits
              ? 'settlement_pending'
              : open
        : reason !== undefined
          ? 'gateway_rejected'
          : refused
    const fields: TransactionFields = {
      ...{ id, status, type: 'sale', amount: toText(captured), 'currency-iso-code': currency, 'order-id': carried },
      'created-at': new Date(at).toISOString(),
      ...(reason !== undefined && { 'gateway-rejection-reason': reason }),
      'processor-response-code': declineCode === undefined ? '1000' : declineCode === 0 ? '' : String(declineCode),
    }
    const backs = element('refund-ids', refunds.map((refund) => element('item', refund.id)).join(''), 'array')
    const customer = element('customer', elements({ 'first-name': 'Xanthippe', 'last-name': 'Quillfeather' }))
    const complaints = disputes.map((dispute) => {
      const money = { amount: toText(dispute.amount), 'amount-disputed': toText(dispute.amount) }
      return element('dispute', elements({ id: dispute.id, kind: 'chargeback', status: dispute.status, ...money }))
    })
    const card = charge.kept ? element('credit-card', elements({ token: charge.kept.token })) : ''
    const shifted = authenticated.get(id)
    const secure =
      shifted === undefined
        ? '<three-d-secure-info nil="true"/>'
        : element(
            'three-d-secure-info',
            elements({ status: shifted ? 'authenticate_successful' : 'authenticate_attempt_successful' }) +
              element('liability-shifted', String(shifted), 'boolean') +
              element('liability-shift-possible', 'true', 'boolean'),
          )
    const history = settled ? statusHistory(charge.settledAt) : ''
    const cents = settled && currency !== 'USD' ? ledger.settledCents(charge) : undefined
    const paidOut = { 'settlement-amount': toText(cents ?? 0), 'settlement-currency-iso-code': 'USD' }
    const disbursed = cents === undefined ? '' : element('disbursement-details', elements(paidOut))
    const lists = disbursed + backs + history + element('disputes', complaints.join(''), 'array')
    return element('transaction', elements(fields) + lists + secure + card + customer)
  }
}

/** A refund, which settles at once. */
function refundXml(charge: LedgerCharge, { id, reference, amount, at, failed }: LedgerRefund): string {
  const fields: TransactionFields = {
    ...{ id, status: failed ? 'settlement_declined' : 'settled', type: 'credit' },
    ...{ amount: toText(amount), 'order-id': reference },
    ...{ 'currency-iso-code': charge.currency, 'refunded-transaction-id': charge.id },
  }
  return element('transaction', elements(fields) + statusHistory(at))
}

function statusHistory(settledAt: number): string {
  const event = (status: string, timestamp: string) =>
    element('status-event', elements({ status }) + element('timestamp', timestamp, 'datetime'))
  const time = `${new Date(settledAt).toISOString().slice(0, 19)}Z`
  return element('status-history', event('submitted_for_settlement', time) + event('settled', time), 'array')
}

/** The real answers of refused requests repeat what was asked, nonces and names included. */
function params(wanted: object): string {
  return element('params', element('transaction', elements(wanted as Record<string, unknown>)))
}

function xml(status: number, body: string, more: Partial<ProcessorAnswer> = {}): ProcessorAnswer {
  return {
    status,
    type: 'application/xml; charset=utf-8',
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
    ...more,
  }
}

function elements(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([name, value]) =>
      element(
        name.replaceAll('_', '-'),
        typeof value === 'object' && value !== null
          ? elements(value as Record<string, unknown>)
          : String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
      ),
    )
    .join('')
}

function element(name: string, content: string, type?: string): string {
  return `<${name}${type === undefined ? '' : ` type="${type}"`}>${content}</${name}>`
}
