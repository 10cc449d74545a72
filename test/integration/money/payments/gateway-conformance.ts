import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Decimal } from '../../../../src/kernel/money.js'
import { sameAmount } from '../../../../src/kernel/money.js'
import {
  type Charge,
  type Gateway,
  GatewayRefusal,
  type ProcessorEntry,
  withTimeout,
} from '../../../../src/money/gateways/gateway.js'
import { usd } from '../../../support/money/donations.js'
import { standStill } from '../../../support/values/stand-still.js'

/** What a gateway's processor holds under a reference of ours, asked apart from the gateway. */
type Held = { readonly charges: number; readonly amount: Decimal }

/** A gateway beside what the suite must know of its processor. */
type OpenGateway = {
  readonly gateway: Gateway
  /** Gateways that reach no processor or are refused by it, by what is wrong with them. */
  readonly refused: Readonly<Record<string, Gateway>>
  held(reference: string): Promise<Held>
  /** Lets the processor settle the charge, as it does once a day. */
  settle(reference: string): Promise<void>
  /** Lets the time go by after which the processor's search shows the charge. */
  showInSearch(reference: string): Promise<void>
  /** Lets the processor charge and settle this often; gives the references. */
  chargeMany(count: number): Promise<readonly string[]>
  /** Changes what the processor says it charged. */
  changeAmount(reference: string, amount: Decimal): Promise<void>
  /** Keys and the like, which may stand in no error and no line of output. */
  readonly secrets: readonly string[]
  close(): Promise<void>
}

export type GatewayCase = {
  readonly name: string
  /** Nonces that are declined, with their numbers in the API. */
  readonly declines: readonly (readonly [nonce: string, code: number])[]
  /** Nonces whose outcome the gateway cannot know, and whether they are charged. */
  readonly unknown: readonly (readonly [nonce: string, charged: boolean])[]
  /** Nonces whose requests the processor refuses as such. */
  readonly refusedNonces: readonly string[]
  /** Whether a charge says of its donation what the books need to enter it again; those of the sandbox lie beside the books. */
  readonly carriesNotes: boolean
  /** Whether a part of a charge can be given back before the settlement. */
  readonly refundsPartsEarly: boolean
  readonly timeoutMs: number
  readonly open: () => Promise<OpenGateway>
}

const donor = { firstname: 'Xanthippe', lastname: 'Quillfeather', email: 'xanthippe@example.org', city: 'Galway' }
const since = new Date(Date.now() - 60_000)
const amount = (text: string) => text as Decimal
const notes = { projectId: 2045, addon: amount('2.50'), refcode: 'spring-drive' }

/** What every gateway must do, whoever its processor is. */
export function describeGateway({ name, timeoutMs, open, ...given }: GatewayCase): void {
  describe(`the ${name} gateway`, { timeout: 60_000, shuffle: false }, () => {
    let opened: OpenGateway
    const errors: unknown[] = []
    const printed: unknown[] = []
    const nonces = new Set<string>()

    beforeAll(async () => {
      for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
        vi.spyOn(console, method).mockImplementation((...line) => void printed.push(line))
      }
      opened = await open()
    })
    afterAll(async () => {
      await opened?.close()
      vi.restoreAllMocks()
    })

    const call = async <T>(work: (gateway: Gateway, signal: AbortSignal) => Promise<T>, gateway = opened.gateway) => {
      try {
        return await withTimeout(timeoutMs, (signal) => work(gateway, signal))
      } catch (error) {
        errors.push(error)
        throw error
      }
    }
    const aCharge = (nonce = 'fake-valid-nonce', changes: Partial<Charge> = {}): Charge => {
      nonces.add(nonce)
      return {
        ...{ reference: randomUUID(), amount: amount('42.50'), currency: usd, gatewayKey: 'a-client-key' },
        ...{ method: { kind: 'nonce', nonce }, payer: donor, notes, ...changes },
      }
    }
    const charge = (given: Charge, gateway?: Gateway) => call((to, signal) => to.charge(given, signal), gateway)
    const find = (reference: string) => call((to, signal) => to.findByReference({ reference, since }, signal))
    const approved = async (given = aCharge()) => {
      const outcome = await charge(given)
      if (outcome.kind !== 'approved') throw new Error(`expected an approved charge, got ${inspect(outcome)}`)
      return { ...given, chargeId: outcome.chargeId }
    }
    const giveBack = (paid: Charge & { chargeId: string }, of: string, reference: string = randomUUID()) =>
      call((to, signal) =>
        to.refund(
          {
            ...{ reference, chargeReference: paid.reference, chargeId: paid.chargeId },
            ...{ amount: amount(of), currency: paid.currency },
          },
          signal,
        ),
      )
    const expectHeld = async (reference: string, charges: number, held: string) => {
      const now = await opened.held(reference)
      expect(now.charges).toBe(charges)
      expect(sameAmount(now.amount, amount(held)), `held ${now.amount}, expected ${held}`).toBe(true)
    }
    const failure = async (work: Promise<unknown>) =>
      work.then(
        (value) => expect.unreachable(`expected an error, got ${inspect(value)}`),
        (error: unknown) => error,
      )

    it('gives a token for the page that makes nonces', async () => {
      expect(await call((to, signal) => to.clientToken(signal))).toMatch(/^\S{8,}$/)
    })

    it('charges, and finds what it has charged', async () => {
      const paid = await approved()
      await expectHeld(paid.reference, 1, '42.50')
      const found = await find(paid.reference)
      expect(found).toMatchObject({ outcome: { kind: 'approved', chargeId: paid.chargeId }, currency: 'USD' })
      expect(sameAmount(found?.amount ?? amount('0'), paid.amount)).toBe(true)
      expect(await find(randomUUID())).toBeUndefined()
    })

    it('charges a saved token, with all that a request may add', async () => {
      const paid = await approved(
        aCharge('', {
          method: { kind: 'saved-token', token: 'fake-valid-visa-nonce' },
          ...{ deviceData: '{"correlation_id":"a1"}', threeDSecureAuthenticationId: 'auth0001' },
          payer: { ...donor, ipAddress: '192.0.2.7', userAgent: 'Example/1.0', iso3166CountryCode: 'IE', zip: 'H91' },
        }),
      )
      await expectHeld(paid.reference, 1, '42.50')
    })

    it('charges again under another reference, and once under the same', async () => {
      const paid = await approved()
      await approved({ ...paid, reference: randomUUID() })
      expect(await charge({ ...paid, again: true })).toMatchObject({ kind: 'approved', chargeId: paid.chargeId })
      await opened.showInSearch(paid.reference)
      const again = await charge({ ...paid, again: true })
      expect(again).toMatchObject({ kind: 'approved', chargeId: paid.chargeId, charged: { currency: 'USD' } })
      await expectHeld(paid.reference, 1, '42.50')
    })

    it('tells of a charge that was made under the reference what it was for', async () => {
      // Processors tell whole seconds.
      const before = Math.floor(Date.now() / 1000) * 1000
      const paid = await approved()
      const read = () => call((to, signal) => to.readCharge(paid.chargeId, signal))
      expect((await read())?.at.getTime()).toBeGreaterThanOrEqual(before)
      await opened.showInSearch(paid.reference)
      const asked = { ...aCharge(), reference: paid.reference, amount: amount('50.00'), again: true }
      const again = await charge({ ...asked, notes: { ...notes, projectId: 7 } })
      if (again.kind !== 'approved' || !again.charged) throw new Error('expected the charge that was made')
      expect(sameAmount(again.charged.amount, paid.amount)).toBe(true)
      const carried = given.carriesNotes ? notes : undefined
      expect(again.charged.notes).toEqual(carried)
      expect((await find(paid.reference))?.notes).toEqual(carried)
      expect((await read())?.notes).toEqual(carried)
      await expectHeld(paid.reference, 1, '42.50')
    })

    it.each(given.declines)('declines %s with %i, now and later', async (nonce, code) => {
      const declined = aCharge(nonce)
      const outcome = await charge(declined)
      expect(outcome).toMatchObject({ kind: 'declined', decline: { code } })
      expect(await find(declined.reference)).toMatchObject({ outcome })
      expect(await charge({ ...declined, again: true })).toEqual(outcome)
      await expectHeld(declined.reference, 0, '0')
    })

    // What a processor is asked over the network; the sandbox lies beside the books.
    if (given.carriesNotes) {
      it('declines a nonce that nobody gave out, and finds no charge of it', async () => {
        const declined = aCharge('never-given-out-nonce')
        expect(await charge(declined)).toMatchObject({ decline: { code: 2007 } })
        expect(await find(declined.reference)).toBeUndefined()
      })

      it('does not call a charge of another amount approved, and finds that amount', async () => {
        const other = aCharge('fake-other-amount-nonce')
        expect(await failure(charge(other))).toMatchObject({ message: expect.stringContaining('another amount') })
        expect(await find(other.reference)).toMatchObject({ amount: '43.50' })
      })
    }

    it('sends no charge whose time is over, also where the process stood still', async () => {
      const late = aCharge()
      expect(await failure(opened.gateway.charge(late, AbortSignal.abort()))).toBeInstanceOf(Error)
      const standing = withTimeout(50, async (signal) => {
        standStill(50)
        return await opened.gateway.charge(late, signal)
      })
      expect(await failure(standing)).toBeInstanceOf(Error)
      // What was sent all the same would be found now.
      expect(await find(late.reference)).toBeUndefined()
      await expectHeld(late.reference, 0, '0')
    })

    it('takes its time', async () => {
      const paid = await approved(aCharge('fake-slow-nonce'))
      await expectHeld(paid.reference, 1, '42.50')
    })

    it.each(given.unknown)(
      'does not know the outcome of %s, and finds whether it was charged: %s',
      async (nonce, is) => {
        const lost = aCharge(nonce)
        expect(await failure(charge(lost))).not.toBeInstanceOf(GatewayRefusal)
        // What was under way may still arrive.
        await sleep(200)
        const found = await find(lost.reference)
        if (!is) expect(found).toBeUndefined()
        else {
          expect(found?.outcome.kind).toBe('approved')
          expect(await charge({ ...lost, again: true })).toMatchObject(found?.outcome ?? {})
        }
        await expectHeld(lost.reference, is ? 1 : 0, is ? '42.50' : '0')
      },
    )

    it.each(given.refusedNonces)('refuses %s: nothing is done', async (nonce) => {
      const refused = aCharge(nonce)
      expect(await failure(charge(refused))).toBeInstanceOf(GatewayRefusal)
      expect(await find(refused.reference)).toBeUndefined()
      await expectHeld(refused.reference, 0, '0')
    })

    it('refuses when its processor is out of reach or does not know it: nothing is done', async () => {
      for (const [what, gateway] of Object.entries(opened.refused)) {
        const refused = aCharge()
        expect(await failure(charge(refused, gateway)), what).toBeInstanceOf(GatewayRefusal)
        await expectHeld(refused.reference, 0, '0')
      }
    })

    it('reads one charge: how far it is, and what went back of it under our references', async () => {
      const paid = await approved()
      const read = () => call((to, signal) => to.readCharge(paid.chargeId, signal))
      const { chargeId, reference } = paid
      expect(await read()).toMatchObject({ chargeId, reference, currency: 'USD', refunds: [], disputes: [] })
      await opened.settle(reference)
      const given = randomUUID()
      await giveBack(paid, '12.50', given)
      const after = await read()
      expect(after).toMatchObject({ progress: 'settled', refunds: [{ reference: given }] })
      const amounts = [after?.amount, after?.refunds[0]?.amount].map((text) => Number(text))
      expect(amounts).toEqual([42.5, 12.5])
    })

    it('knows no charge that it has not made', async () => {
      for (const id of ['nothing0', 'sandbox-999999', '../nothing', '']) {
        expect(await call((to, signal) => to.readCharge(id, signal)).catch(() => undefined), id).toBeUndefined()
      }
    })

    it('finds another amount when the processor says so', async () => {
      const paid = await approved()
      await opened.changeAmount(paid.reference, amount('41.50'))
      expect(sameAmount((await find(paid.reference))?.amount ?? amount('0'), amount('41.50'))).toBe(true)
    })

    it('gives all back before the settlement, once', async () => {
      const [paid, reference] = [await approved(), randomUUID()]
      const first = await giveBack(paid, '42.50', reference)
      expect(await giveBack(paid, '42.50', reference)).toEqual(first)
      await expectHeld(paid.reference, 1, '0')
    })

    it('gives no part back twice, before the settlement or as soon as that has been', async () => {
      const [paid, reference] = [await approved(), randomUUID()]
      if (!given.refundsPartsEarly) {
        expect(await failure(giveBack(paid, '12.50', reference))).toMatchObject({ name: 'RefundLater' })
        await expectHeld(paid.reference, 1, '42.50')
        await opened.settle(paid.reference)
      }
      const first = await giveBack(paid, '12.50', reference)
      expect(await giveBack(paid, '12.50', reference)).toEqual(first)
      await expectHeld(paid.reference, 1, '30')
    })

    it('gives parts back after the settlement, and never more than is left', async () => {
      const paid = await approved()
      await opened.settle(paid.reference)
      const ids = [await giveBack(paid, '10'), await giveBack(paid, '12.50')].map(({ refundId }) => refundId)
      expect(new Set(ids).size).toBe(2)
      expect(await failure(giveBack(paid, '20.01'))).toBeInstanceOf(GatewayRefusal)
      await giveBack(paid, '20')
      expect(await failure(giveBack(paid, '1'))).toBeInstanceOf(GatewayRefusal)
      await expectHeld(paid.reference, 1, '0')
    })

    it('gives nothing back of a charge that it does not have, or for more than was charged', async () => {
      const paid = await approved()
      expect(await failure(giveBack(paid, '42.51'))).toBeInstanceOf(GatewayRefusal)
      const invented = { ...aCharge(), chargeId: 'nothing0' }
      expect(await failure(giveBack(invented, '10'))).toBeInstanceOf(GatewayRefusal)
      await expectHeld(paid.reference, 1, '42.50')
    })

    it('lists each charge and refund that was settled in a time, with our references', async () => {
      const from = new Date(Math.floor(Date.now() / 1000) * 1000)
      const [paid, partly, reference] = [await approved(), await approved(), randomUUID()]
      const declined = aCharge(given.declines[0]?.[0])
      await charge(declined)
      for (const one of [paid, partly]) await opened.settle(one.reference)
      const { refundId } = await giveBack(partly, '12.50', reference)
      const list = async (since: Date, until: Date) => {
        const entries: ProcessorEntry[] = []
        const { signal } = new AbortController()
        for await (const entry of opened.gateway.settledBetween(since, until, signal)) entries.push(entry)
        return entries
      }
      const entries = await list(from, new Date(Date.now() + 1_000))
      const ofReference = (wanted: string) =>
        entries.filter((entry) => 'reference' in entry && entry.reference === wanted)
      for (const { chargeId, ...one } of [paid, partly]) {
        const expected = { kind: 'charge', id: chargeId, chargeId, currency: 'USD', reference: one.reference }
        expect(ofReference(one.reference)).toMatchObject([expected])
      }
      const back = { kind: 'refund', id: refundId, chargeId: partly.chargeId, currency: 'USD' }
      expect(ofReference(reference)).toMatchObject([back])
      expect(ofReference(declined.reference)).toEqual([])
      for (const entry of [...ofReference(paid.reference), ...ofReference(reference)]) {
        if (entry.kind === 'changed') expect.unreachable('a charge that settled is not changed')
        expect(sameAmount(entry.amount, amount(entry.kind === 'charge' ? '42.50' : '12.50'))).toBe(true)
        expect(entry.settledAt.getTime()).toBeGreaterThanOrEqual(from.getTime())
      }
      const before = await list(new Date(0), from)
      expect(before.filter((entry) => 'reference' in entry && entry.reference === paid.reference)).toEqual([])
      expect(await list(new Date(Date.now() + 60_000), new Date(Date.now() + 120_000))).toEqual([])
    })

    it('lists all of many charges, each once', async () => {
      const from = new Date(Math.floor(Date.now() / 1000) * 1000)
      const references = await opened.chargeMany(230)
      const seen = new Map<string, number>()
      const { signal } = new AbortController()
      for await (const entry of opened.gateway.settledBetween(from, new Date(Date.now() + 1_000), signal)) {
        if (entry.kind === 'charge' && entry.reference) seen.set(entry.reference, (seen.get(entry.reference) ?? 0) + 1)
      }
      expect(references.map((reference) => seen.get(reference))).toEqual(references.map(() => 1))
    })

    it('repeats no nonce, no key and nothing of the donor in errors or output', () => {
      expect(errors.length).toBeGreaterThan(3)
      const text = inspect([errors, printed], { depth: 20, showHidden: true })
      const private_ = [...nonces, ...opened.secrets, 'a-client-key', donor.firstname, donor.lastname, donor.email]
      for (const secret of private_.filter((item) => item !== '')) expect(text).not.toContain(secret)
    })
  })
}
