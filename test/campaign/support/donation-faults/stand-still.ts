import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { addDays, isoDateOf } from '../../../../src/kernel/dates.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import { reconcileDays } from '../../../../src/money/reconcile.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import type { Store } from '../../../../src/platform/database/store.js'
import { forkStripped } from '../../../support/commands/cli.js'
import { type DonationSteps, donationSteps } from '../../../support/money/donation-steps.js'
import { insertDonationTargets, testPayments, usd } from '../../../support/money/donations.js'
import type { Stop } from '../call-faults/counted-calls.js'
import { type CampaignProcessor, campaignGateway, type ProcessorName, startCampaignProcessor } from './processors.js'
import type { StandingOrder, StandingSettings } from './standing-process.js'

/** How long processes stand still, and what the times are of which that must be longer. */
export type StandingTimes = {
  readonly stopMs: number
  readonly timeoutMs: number
  /** Absent: that of the gateway. */
  readonly lateSeconds?: number
  /** When a failed donation is looked at again; absent: as in the program. */
  readonly secondLookSeconds?: number
}

/** A call of a step at which a process stands still. */
type StandingCase = { readonly life: LifeName; readonly at: number; readonly stop: Stop }

const lifeNames = [
  'sent again',
  'never sent again',
  'given back',
  'settled late',
  'looked at again',
  'a month',
] as const
type LifeName = (typeof lifeNames)[number]
const stops: readonly Stop[] = ['stop-before', 'stop-after', 'stop-and-die']

/** What came of one batch: `stood`: how many of the processes reached their call. */
type StandingResult = { readonly stood: number; readonly wrong: readonly string[] }

type Answer = { readonly calls: number; readonly met?: string; readonly error?: string }

/** Donations whose process stands still at a call while others go on; it goes on later, or dies. */
export class StandingDonations implements AsyncDisposable {
  readonly #store: Store
  readonly #times: StandingTimes
  readonly #settings: Omit<StandingSettings, 'aheadMs'>
  readonly #processor: CampaignProcessor
  readonly #others: DonationSteps
  readonly #payments: ReturnType<typeof testPayments>
  readonly #idle: ChildProcess[] = []
  readonly #all: ChildProcess[] = []

  static async open(store: Store, url: string, name: ProcessorName, times: StandingTimes): Promise<StandingDonations> {
    const processor = await startCampaignProcessor(name)
    const keyId = await insertDonationTargets(store.db, [2045])
    const { place } = processor
    // What others do is never given up for being slow.
    const gateway = {
      ...(await campaignGateway(place, store, 20_000)),
      ...(times.lateSeconds && { lateSeconds: times.lateSeconds }),
    }
    const payments = testPayments(store, {
      clock: () => new Date(),
      timeoutMs: Math.max(2_000, times.timeoutMs),
      gateway,
    })
    const settings = {
      url,
      place,
      keyId,
      timeoutMs: times.timeoutMs,
      ...(times.lateSeconds && { lateSeconds: times.lateSeconds }),
    }
    return new StandingDonations({ store, times, settings, processor, payments })
  }

  private constructor(given: {
    store: Store
    times: StandingTimes
    settings: Omit<StandingSettings, 'aheadMs'>
    processor: CampaignProcessor
    payments: ReturnType<typeof testPayments>
  }) {
    this.#store = given.store
    this.#times = given.times
    this.#settings = given.settings
    this.#processor = given.processor
    this.#payments = given.payments
    this.#others = donationSteps(given.payments, given.settings.keyId)
  }

  /** All calls of all lives, each with each way to stand still. */
  async cases(): Promise<StandingCase[]> {
    const all: StandingCase[] = []
    for (const life of lifeNames) {
      const { order } = await this.#lives[life]()
      const { calls } = await this.#do(await this.#process(), order).answer
      await this.#rounds(2)
      for (let at = 1; at <= calls; at++) for (const stop of stops) all.push({ life, at, stop })
    }
    return all
  }

  /** Lets a process stand still for each case, all at the same time, and looks at what has come of it. */
  async stand(cases: readonly StandingCase[]): Promise<StandingResult> {
    const parked: { child: ChildProcess; answer: Promise<Answer>; meanwhile?: () => Promise<unknown> }[] = []
    let stood = 0
    for (const { life, at, stop } of cases) {
      const { order, meanwhile } = await this.#lives[life]()
      const child = await this.#process()
      const doing = this.#do(child, { ...order, fault: { kind: stop, at, variant: 0 } })
      if (await doing.stands) stood++
      parked.push({ child, answer: doing.answer, ...(meanwhile && { meanwhile }) })
    }
    const stoppedAt = performance.now()
    await Promise.all(parked.map(({ meanwhile }) => meanwhile?.().catch(() => undefined)))
    while (performance.now() - stoppedAt < this.#times.stopMs) await this.#rounds(1)
    for (const { child } of parked) child.kill('SIGCONT')
    await Promise.all(parked.map(({ answer }) => answer))
    await Promise.all(parked.map(({ meanwhile }) => meanwhile?.().catch(() => undefined)))
    return { stood, wrong: await this.#wrong() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#all) child.kill('SIGKILL')
    await this.#processor.close()
  }

  /** Each makes what its step needs, and says what others do while the process stands still. */
  readonly #lives: Record<LifeName, () => Promise<{ order: StandingOrder; meanwhile?: () => Promise<unknown> }>> = {
    'sent again': async () => {
      const given = this.#gift()
      return { order: { step: 'submit', given }, meanwhile: () => this.#others.submit(...given) }
    },
    'never sent again': async () => ({ order: { step: 'submit', given: this.#gift() } }),
    'given back': async () => {
      const id = await this.#settledGift()
      this.#processor.settleAll()
      return { order: { step: 'refund', given: [id, '15'] } }
    },
    'settled late': async () => {
      const given = this.#gift({}, 'fake-timeout-after-nonce')
      await this.#others.submit(...given).catch(() => undefined)
      await this.#endLeases('received')
      return { order: { step: 'settle', given: [] } }
    },
    'looked at again': async () => {
      const given = this.#gift({}, 'fake-timeout-before-nonce')
      await this.#others.submit(...given).catch(() => undefined)
      await this.#endLeases('received')
      await this.#others.settle()
      const { rows } = await this.#store.db.query<{ reference: string; amount: Decimal }>(
        'select reference, amount from donation where transaction_id = $1',
        [given[0].transactionId],
      )
      const { reference = '', amount = '0' as Decimal } = rows[0] ?? {}
      const notes = { projectId: 2045, addon: '0' as Decimal, refcode: 'spring-drive' }
      const method = { kind: 'nonce', nonce: 'fake-valid-nonce' } as const
      // Another try than the one whose answer the processor repeats.
      const charge = {
        ...{ reference, attempt: 2, amount, currency: usd, notes },
        ...{ gatewayKey: '', method, payer: {} },
      }
      await this.#payments.gateway.charge(charge, new AbortController().signal)
      await this.#endLeases('failed')
      return { order: { step: 'settle', given: [] } }
    },
    'a month': async () => {
      const id = await this.#settledGift({ recurring: true, frequency: 'monthly' })
      await this.#others.chargePlans()
      await this.#store.db.query('update donation_plan set next_at = now(), look_at = now() where donation_id = $1', [
        id,
      ])
      return { order: { step: 'chargePlans', given: [] } }
    },
  }

  #gift(changes: Record<string, unknown> = {}, nonce = 'fake-valid-nonce') {
    const payment = { paymentGateway: this.#processor.wireName, paymentGatewayNonce: nonce }
    const amount = (40 + Math.floor(Math.random() * 1000) / 100).toFixed(2)
    return [{ transactionId: randomUUID(), amount, ...changes }, payment] as const
  }

  async #settledGift(changes: Record<string, unknown> = {}): Promise<number> {
    const given = this.#gift(changes)
    let receipt: string | undefined
    // A busy machine may be too slow for its time-outs.
    while (receipt === undefined) receipt = await this.#others.submit(...given).catch(() => undefined)
    const { rows } = await this.#store.db.query<{ id: number }>('select id from donation where receipt_number = $1', [
      receipt,
    ])
    return rows[0]?.id ?? 0
  }

  async #endLeases(status: 'received' | 'failed'): Promise<void> {
    await this.#store.db.query(
      `update donation set lease_until = clock_timestamp() where status = $1 and lease_until is not null`,
      [status],
    )
  }

  /** What workers do every minute. */
  async #rounds(count: number): Promise<void> {
    const { secondLookSeconds } = this.#times
    for (let round = 0; round < count; round++) {
      if (secondLookSeconds !== undefined) {
        await this.#store.db.query(
          `update donation set lease_until = least(lease_until, clock_timestamp() + $1 * interval '1 s') where status = 'failed'`,
          [secondLookSeconds],
        )
      }
      await this.#others.settle()
      await this.#others.chargePlans()
      await sleep(Math.min(5_000, this.#times.stopMs / 10))
    }
  }

  /** What is wrong once all leases are over and a night has been. */
  async #wrong(): Promise<string[]> {
    const { db } = this.#store
    const left = async () =>
      (
        await db.query(
          `select from donation where status = 'received' or (status = 'failed' and lease_until is not null)
            union all select from donation_refund where done_at is null`,
        )
      ).rowCount
    const today = isoDateOf(new Date())
    const night = async () => {
      for (let round = 0; round < 400 && (await left()) > 0; round++) {
        await this.#rounds(1)
        await this.#endLeases('failed')
      }
      this.#processor.settleAll()
      const days = { from: addDays(today, -1), to: addDays(today, 1) }
      return (await reconcileDays(this.#payments, days, new AbortController().signal)).differences
    }
    await night()
    const differences = [
      ...(await night()),
      ...(await this.#store.snapshot((snapshot) => listDifferences(snapshot, 10))),
    ]
    const { references, sum } = await this.#processor.held(this.#store)
    const { rows } = await db.query<{ reference: string; transactionId: string; sum: string }>(
      `select d.reference, d.transaction_id, (sum(d.amount + d.addon - d.refunded) over ())::numeric(18, 2)::text as sum
        from donation d where d.settled_at is not null and d.refunded < d.amount`,
    )
    const booked = new Set(rows.map(({ reference }) => reference))
    const held = new Set(references)
    return [
      ...differences.map((difference) => `the books differ: ${JSON.stringify(difference)}`),
      ...((await left()) > 0 ? [`${await left()} are still open`] : []),
      ...references.flatMap((reference) =>
        booked.has(reference) ? [] : [`lost: ${reference} is held, and in no book`],
      ),
      ...rows.flatMap(({ reference }) => (held.has(reference) ? [] : [`torn: ${reference} is booked, and not held`])),
      ...(held.size < references.length ? ['double: one reference is held twice'] : []),
      ...(new Set(rows.map(({ transactionId }) => transactionId)).size < rows.length
        ? ['double: one gift is booked twice']
        : []),
      ...(sum === (rows[0]?.sum ?? '0.00') ? [] : [`held ${sum}, booked ${rows[0]?.sum}`]),
    ]
  }

  async #process(): Promise<ChildProcess> {
    const idle = this.#idle.pop()
    if (idle) return idle
    const file = 'test/campaign/support/donation-faults/standing-process.ts'
    // Clocks are ten minutes apart, also from that of others.
    const aheadMs = [-600_000, 0, 600_000][this.#all.length % 3] ?? 0
    const child = await forkStripped(file, [JSON.stringify({ ...this.#settings, aheadMs } satisfies StandingSettings)])
    this.#all.push(child)
    await once(child, 'message')
    return child
  }

  /** `answer` when the step has ended, `stands` when it stands still; false: it ended before. */
  #do(child: ChildProcess, order: StandingOrder): { answer: Promise<Answer>; stands: Promise<boolean> } {
    let over = false
    const answer = new Promise<Answer>((resolve) => {
      const ended = (said?: Answer) => {
        over = true
        child.off('message', ended)
        child.off('exit', died)
        if (said) this.#idle.push(child)
        resolve(said ?? { calls: 0, error: 'died' })
      }
      const died = () => ended()
      child.on('message', ended)
      child.on('exit', died)
    })
    child.send(order)
    const stands = async () => {
      while (!over) {
        if (await isStopped(child.pid ?? 0)) return true
        await sleep(10)
      }
      return false
    }
    return { answer, stands: stands() }
  }
}

async function isStopped(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return /\) T /.test(stat)
}
