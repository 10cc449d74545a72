import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Decimal } from '../../../src/kernel/money.js'
import type { ProcessorAddress } from '../../../src/money/gateways/processor-calls.js'
import { scenarioOf, slowMs } from '../../../src/money/gateways/sandbox/sandbox-scenarios.js'
import { temporaryFolder } from '../values/temporary-folder.js'
import { selfSigned } from './self-signed.js'

/** A charge as a stand-in of a processor keeps it; amounts in the smallest unit. */
export type LedgerCharge = {
  readonly id: string
  readonly reference: string
  /** What the processor keeps with it: metadata, or the order id; absent: the reference alone. */
  readonly carried?: string
  amount: number
  readonly currency: string
  /** What came of it; absent: all. */
  captured?: number | undefined
  /** Absent: approved. */
  readonly declineCode?: number
  settled: boolean
  /** When the processor settled it, as far as it has. */
  settledAt: number
  voided: boolean
  /** Not decided: the donor's bank asks, or the money takes days. */
  waits?: 'donor' | 'processor' | undefined
  /** What the processor keeps for later charges. */
  readonly kept?: { readonly token: string; readonly customer?: string } | undefined
  /** Approved, but the money never came. */
  failed: boolean
  readonly refunds: LedgerRefund[]
  readonly disputes: { readonly id: string; readonly amount: number; status: 'open' | 'won' | 'lost' }[]
  readonly at: number
}

/** A refund; its reference is empty when it was made in the processor's own console. */
export type LedgerRefund = {
  readonly id: string
  readonly reference: string
  readonly amount: number
  failed?: boolean
  at: number
}

/** What a stand-in does with the answer to a charge, decided by the nonce as in the sandbox. */
export type Fault =
  | { readonly kind: 'answer' }
  | { readonly kind: 'silent' | 'error' | 'cut'; readonly charged: boolean }
  | { readonly kind: 'half' | 'broken' | 'empty' | 'other-amount' | 'doubled' }
  | { readonly kind: 'refused' }

const faults: Readonly<Record<string, Fault>> = {
  'fake-timeout-before-nonce': { kind: 'silent', charged: false },
  'fake-timeout-after-nonce': { kind: 'silent', charged: true },
  'fake-error-before-nonce': { kind: 'error', charged: false },
  'fake-error-after-nonce': { kind: 'error', charged: true },
  'fake-cut-before-nonce': { kind: 'cut', charged: false },
  'fake-cut-after-nonce': { kind: 'cut', charged: true },
  'fake-half-answer-nonce': { kind: 'half' },
  'fake-broken-answer-nonce': { kind: 'broken' },
  'fake-empty-answer-nonce': { kind: 'empty' },
  'fake-other-amount-nonce': { kind: 'other-amount' },
  'fake-doubled-nonce': { kind: 'doubled' },
  'fake-down-nonce': { kind: 'refused' },
}

/** Nonces of the faults after which nobody knows the outcome, and whether they charge. */
export const unknownNonces: readonly (readonly [nonce: string, charged: boolean])[] = Object.entries(faults).flatMap(
  ([nonce, fault]) => {
    if (fault.kind === 'half' || fault.kind === 'broken' || fault.kind === 'empty') return [[nonce, true] as const]
    return 'charged' in fault ? [[nonce, fault.charged] as const] : []
  },
)

/** What the processor does with a nonce: its fault, or undefined for one that nobody gave out; and its decline. */
export function readNonce(nonce: string, amount: string): { fault: Fault; code?: number; slowMs: number } | undefined {
  const fault = faults[nonce]
  if (fault) return { fault, slowMs: 0 }
  const scenario = scenarioOf(nonce, amount)
  if (scenario.kind === 'declined') return { fault: { kind: 'answer' }, code: scenario.code, slowMs: 0 }
  if (scenario.kind === 'unknown') return undefined
  return { fault: { kind: 'answer' }, slowMs: scenario.kind === 'slow' ? slowMs : 0 }
}

/** The charges of a stand-in, and what is left of them. */
export class ProcessorLedger {
  /** Done before each answer. */
  beforeAnswer: () => Promise<void> = async () => undefined
  /** Whether the answer of a call that was worked on gets lost. */
  losesAnswer: () => boolean = () => false
  /** The processor's clock. */
  now: () => number = Date.now
  readonly charges: LedgerCharge[] = []
  /** Kept ways to pay, by the nonce that they were made of. */
  readonly keptMethods = new Map<string, string>()
  /** What the processor settles in cents of dollars for one of the smallest unit of another currency; unset: nothing yet. */
  readonly rates = new Map<string, number>()
  /** Numbers that the next charges with kept ways to pay are declined with. */
  readonly declinesOfKept: number[] = []
  #ids = 0

  nextId(prefix = ''): string {
    this.#ids += 1
    return `${prefix}${this.#ids.toString(36).padStart(8, '0')}`
  }

  charge(
    given: Pick<LedgerCharge, 'reference' | 'amount' | 'currency' | 'carried' | 'waits' | 'kept'> & {
      id: string
      declineCode?: number
    },
  ) {
    const charge: LedgerCharge = {
      ...given,
      settled: false,
      settledAt: 0,
      voided: false,
      failed: false,
      refunds: [],
      disputes: [],
      at: this.now(),
    }
    this.charges.push(charge)
    return charge
  }

  /** The cents of dollars that are settled for a charge in another currency; undefined: that is not known yet. */
  settledCents({ amount, currency }: Pick<LedgerCharge, 'amount' | 'currency'>): number | undefined {
    if (currency.toUpperCase() === 'USD') return amount
    const rate = this.rates.get(currency.toUpperCase())
    return rate === undefined ? undefined : Math.round(amount * rate)
  }

  approved(reference?: string): LedgerCharge[] {
    const ours = this.charges.filter((charge) => charge.declineCode === undefined && !charge.waits)
    return reference === undefined ? ours : ours.filter((charge) => charge.reference === reference)
  }

  refund(charge: LedgerCharge, refund: Omit<LedgerRefund, 'at'>): LedgerRefund {
    const made = { ...refund, at: this.now() }
    charge.refunds.push(made)
    return made
  }

  /** Lets the processor settle a charge, as it does once a day. */
  settle(charge: LedgerCharge, at = this.now()): void {
    charge.settled = true
    charge.settledAt = at
  }

  left({ amount, captured = amount, voided, refunds }: LedgerCharge): number {
    return voided ? 0 : refunds.reduce((left, refund) => (refund.failed ? left : left - refund.amount), captured)
  }

  /** Decides a charge that waits. */
  decide(charge: LedgerCharge, outcome: 'paid' | 'processing' | 'declined'): void {
    charge.waits = outcome === 'processing' ? 'processor' : undefined
    if (outcome === 'declined') Object.assign(charge, { declineCode: 2099 })
  }

  /** The one approved charge with this reference. */
  only(reference: string): LedgerCharge {
    const [charge, second] = this.approved(reference)
    if (!charge || second) throw new Error(`expected one charge with the reference ${reference}`)
    return charge
  }

  /** A refund that somebody makes in the processor's console. */
  refundInConsole(reference: string, amount: string): LedgerRefund {
    const charge = this.only(reference)
    if (toCents(amount) > this.left(charge)) throw new Error(`${amount} is more than what is left of ${reference}`)
    return this.refund(charge, { id: this.nextId('re_'), reference: '', amount: toCents(amount) })
  }

  /** A dispute of the whole charge, whose status the caller changes. */
  dispute(reference: string): { readonly id: string; status: 'open' | 'won' | 'lost' } {
    const charge = this.only(reference)
    const dispute = { id: this.nextId('dp_'), amount: charge.amount, status: 'open' as const }
    charge.disputes.push(dispute)
    return dispute
  }

  held(reference: string): { charges: number; amount: Decimal } {
    const charges = this.approved(reference)
    const cents = charges.reduce((sum, charge) => sum + this.left(charge), 0)
    return { charges: charges.length, amount: toText(cents) }
  }

  /** What the suite of all gateways does at a processor. */
  get controls() {
    return {
      held: async (reference: string) => this.held(reference),
      settle: async (reference: string) => {
        for (const charge of this.approved(reference)) this.settle(charge)
      },
      /** Lets a minute go by, after which a search shows the charge. */
      showInSearch: async (reference: string) => {
        for (const charge of this.approved(reference)) Object.assign(charge, { at: charge.at - 61_000 })
      },
      chargeMany: async (count: number) =>
        Array.from({ length: count }, () => {
          const reference = randomUUID()
          this.settle(this.charge({ id: this.nextId('many_'), reference, amount: 4250, currency: 'USD' }))
          return reference
        }),
      changeAmount: async (reference: string, amount: Decimal) => {
        for (const charge of this.approved(reference)) charge.amount = toCents(amount)
      },
    }
  }
}

/** Cents of amounts with two decimals, which all of these tests have. */
export const toCents = (amount: string): number => Math.round(Number(amount) * 100)
export const toText = (cents: number): Decimal => (cents / 100).toFixed(2) as Decimal

/** An answer of a stand-in. */
export type ProcessorAnswer = {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly fault?: Fault
  readonly delayMs?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A call as it came, and the answer to it. */
export type ProcessorCall = {
  /** Method and path, without what follows a question mark. */
  readonly place: string
  readonly query: string
  readonly request: string
  readonly answer: ProcessorAnswer
}

export type ProcessorServer = {
  readonly ledger: ProcessorLedger
  /** The newest is the last. */
  readonly calls: ProcessorCall[]
  readonly address: ProcessorAddress & { readonly caFile: string }
  /** An address where nobody listens. */
  readonly closedAddress: ProcessorAddress
  close(): Promise<void>
}

/** An HTTPS server in place of a processor. */
export async function startProcessor(
  ledger: ProcessorLedger,
  answer: (request: IncomingMessage, body: string) => ProcessorAnswer,
): Promise<ProcessorServer> {
  const calls: ProcessorCall[] = []
  const server = createServer(selfSigned, (request, response) => {
    void (async () => {
      const body = await text(request)
      await ledger.beforeAnswer()
      const { delayMs = 0, ...given } = answer(request, body)
      const [path, query = ''] = (request.url ?? '').split('?')
      calls.push({ place: `${request.method} ${path}`, query, request: body, answer: given })
      if (delayMs > 0) await sleep(delayMs)
      if (ledger.losesAnswer()) response.destroy()
      else send(response, given)
    })().catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const folder = await temporaryFolder()
  const caFile = path.join(folder, 'ca.pem')
  await writeFile(caFile, selfSigned.cert)
  return {
    ledger,
    calls,
    address: { host: '127.0.0.1', port: String(port), caFile },
    // A port that a server has left is free for a while.
    closedAddress: { host: '127.0.0.1', port: String(await freePort()), caFile },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function send(
  response: ServerResponse,
  { status, type, body, headers, fault = { kind: 'answer' } }: ProcessorAnswer,
): void {
  const head = { ...headers, 'content-type': type, 'content-length': Buffer.byteLength(body) }
  switch (fault.kind) {
    case 'silent':
      return
    case 'cut':
      response.destroy()
      return
    case 'half':
      response.writeHead(status, head)
      response.write(body.slice(0, body.length / 2), () => response.destroy())
      return
    case 'broken':
      response.writeHead(status, { 'content-type': type }).end(body.slice(0, body.length / 2))
      return
    case 'empty':
      response.writeHead(status, { 'content-type': type }).end()
      return
    case 'error':
      response.writeHead(500, { 'content-type': type }).end()
      return
    default:
      response.writeHead(status, head).end(body)
  }
}
