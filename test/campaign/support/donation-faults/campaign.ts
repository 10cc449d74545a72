import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueToken, secretHash } from '../../../../src/accounts/sql/accounts.js'
import { chargeDuePlans } from '../../../../src/money/plans/charge-plans.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import type { Store } from '../../../../src/platform/database/store.js'
import { forkStripped } from '../../../support/commands/cli.js'
import { donationFields, insertDonationTargets, testPayments } from '../../../support/money/donations.js'
import { randomFrom } from '../../../support/values/random.js'
import { type CampaignProcessor, campaignGateway, type ProcessorName, startCampaignProcessor } from './processors.js'

/** How long and how hard: donations end when as many are made, with as many faults, or when `seconds` are over. */
export type CampaignPlan = {
  readonly donations: number
  readonly kills: number
  readonly drops: number
  readonly seconds: number
  readonly seed: number
  readonly feedsDir: string
  readonly processor: ProcessorName
  /** How much slower all of it comes; 1 when absent. */
  readonly calm?: number
  /** How far the clocks of the processes are apart; 0 when absent. */
  readonly apartMs?: number
}

/** What was seen; everything but the counts of faults must be as it should. */
export type CampaignResult = {
  readonly sent: number
  readonly answered: number
  readonly declined: number
  readonly abandoned: number
  /** How many regular gifts were charged after the first. */
  readonly monthsOfPlans: number
  readonly kills: number
  readonly drops: number
  /** Answers with 200 whose donation is not in the books with that receipt. */
  readonly lostAnswers: readonly string[]
  /** transactionIds with more than one approved charge that was not given back. */
  readonly chargedTwice: readonly string[]
  readonly open: number
  readonly differences: readonly unknown[]
  readonly charges: string
  readonly settled: string
  readonly funding: string
  readonly months: string
}

const projects = [1, 2, 3, 4, 5]
const processes = 2
const clients = 12

/**
 * Donations over HTTP to two API processes that are killed at random, while connections to the database are cut and the
 * gateway fails before and after charges; clients repeat what was not answered, some give up. Afterwards the settlement
 * has its turn, and the books are compared.
 */
export async function runCampaign(store: Store, url: string, plan: CampaignPlan): Promise<CampaignResult> {
  await using processor = await openProcessor(plan)
  const random = randomFrom(plan.seed)
  const { calm = 1, apartMs = 0 } = plan
  const keyId = await insertDonationTargets(store.db, projects)
  const apiKey = randomUUID()
  await store.db.query('update api_key set key_hash = $2 where id = $1', [keyId, secretHash(apiKey)])
  await store.db.query(`insert into account_grant select account_id, 'donations', now() from api_key where id = $1`, [
    keyId,
  ])
  const token = await issueToken(store.db, { keyId, timeoutSeconds: 36_000, at: new Date() })
  const start = (index: number) =>
    startProcess('api-process.ts', { url, feedsDir: plan.feedsDir, place: processor.place, aheadMs: index * apartMs })
  const apis = await Promise.all(Array.from({ length: processes }, (_, index) => start(index)))
  const end = performance.now() + plan.seconds * 1000
  const seen = { sent: 0, answered: 0, declined: 0, abandoned: 0, kills: 0, drops: 0 }
  const receipts = new Map<string, string>()
  let running = true

  const client = async () => {
    const enough = () => seen.sent >= plan.donations && seen.kills >= plan.kills && seen.drops >= plan.drops
    while (!enough() && performance.now() < end) {
      seen.sent++
      const body = aDonation(random, processor)
      const transactionId = String(body.transactionId)
      for (let attempt = 1; ; attempt++) {
        const port = apis[Math.floor(random() * apis.length)]?.port ?? 0
        const answer = await post(port, { apiKey, token }, { donation: body })
        if (answer?.status === 200) {
          seen.answered++
          // Without a receipt the money is still to come.
          if (answer.receipt !== '') receipts.set(transactionId, answer.receipt)
          break
        }
        if (answer?.clientSecret !== undefined && attempt < 40) {
          const says = random()
          if (says < 0.8) processor.confirm(answer.clientSecret, says < 0.65)
          if (says < 0.9) continue
        }
        if (answer?.status === 400) {
          seen.declined++
          break
        }
        if (attempt > 1 && (random() < 0.15 || attempt > 40)) {
          seen.abandoned++
          break
        }
        await sleep(100 + 200 * random())
      }
      await sleep((calm - 1) * 100)
    }
  }
  const killer = async () => {
    while (running) {
      await sleep(calm * (500 + 700 * random()))
      const index = Math.floor(random() * apis.length)
      await kill(apis[index])
      seen.kills++
      apis[index] = await start(index)
    }
  }
  const cutter = async () => {
    while (running) {
      await sleep(calm * (150 + 250 * random()))
      const { rowCount } = await store.db.query(
        `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
          where application_name = 'campaign api' and datname = current_database() order by md5(pid || $1) limit 1) victim`,
        [String(random())],
      )
      seen.drops += rowCount
    }
  }
  const faults = [killer(), cutter()]
  await Promise.all(Array.from({ length: clients }, client))
  running = false
  await Promise.all(faults)
  await Promise.all(apis.map(kill))
  const monthsOfPlans = processor.takesPlans ? await chargeMonths(store, { url, plan, processor, random }) : 0
  return { monthsOfPlans, ...seen, ...(await compareBooks(store, receipts, processor)) }
}

/**
 * Three months of the plans that were begun, by two processes that are killed at random. Gives how many gifts were charged;
 * throws when an instant of a plan was charged twice, or none was charged.
 */
async function chargeMonths(
  store: Store,
  {
    url,
    plan: { feedsDir },
    processor: { place, beAhead },
    random,
  }: { url: string; plan: CampaignPlan; processor: CampaignProcessor; random: () => number },
): Promise<number> {
  const gateway = await campaignGateway(place, store, 2_000)
  for (const months of [0, 1, 2, 3]) {
    const aheadMs = months * 31 * 86_400_000 + 600_000
    beAhead(aheadMs)
    const start = () => startProcess('plan-process.ts', { url, feedsDir, place, aheadMs })
    const workers = await Promise.all([start(), start()])
    for (let kills = 0; kills < 6; kills++) {
      await sleep(200 + 500 * random())
      const index = kills % workers.length
      await kill(workers[index])
      workers[index] = await start()
    }
    await Promise.all(workers.map(kill))
    const payments = testPayments(store, { clock: () => new Date(Date.now() + aheadMs), timeoutMs: 2_000, gateway })
    const behind = async () =>
      (
        await store.db.query<{ n: number }>(
          `update donation_plan set look_at = least(look_at, $1::timestamptz)
            where state = 'starting' or (state = 'active' and next_at <= $1) returning id as n`,
          [payments.clock()],
        )
      ).rows.length
    // Whatever a killed process had claimed is looked at again, when its charges cannot come any more.
    for (let round = 0; round < 8 && (await behind()) > 0; round++) {
      await sleep(2_200)
      await settleOpen(payments)
      while ((await chargeDuePlans(payments)) > 0);
    }
  }
  const { rows } = await store.db.query<{ charged: number; doubled: number; late: number }>(
    `select count(*) filter (where d.status = 'settled')::int as charged,
        count(*) filter (where d.status = 'settled')::int
          - count(distinct (c.plan_id, c.instant)) filter (where d.status = 'settled')::int as doubled,
        -- One whose first gift settled late is not due yet.
        (select count(*)::int from donation_plan where state = 'active' and next_at <= $1) as late
      from donation_plan_charge c join donation d on d.reference = c.reference`,
    [new Date(Date.now() + 3 * 31 * 86_400_000)],
  )
  const [{ charged, doubled, late } = { charged: 0, doubled: 0, late: 0 }] = rows
  if (charged === 0 || doubled > 0 || late > 0) {
    const { rows: behind } = await store.db.query(
      `select p.id, p.instant, p.tries, p.next_at, p.look_at, c.try, d.status, d.received_at, d.lease_until
        from donation_plan p left join donation_plan_charge c on c.plan_id = p.id and c.instant = p.instant
          left join donation d on d.reference = c.reference
        where p.state = 'active' and p.next_at <= $1`,
      [new Date(Date.now() + 3 * 31 * 86_400_000)],
    )
    throw new Error(
      `of the plans ${charged} months were charged, ${doubled} twice, and ${late} plans are behind: ${JSON.stringify(behind)}`,
    )
  }
  return charged
}

async function openProcessor(plan: CampaignPlan): Promise<CampaignProcessor & AsyncDisposable> {
  const processor = await startCampaignProcessor(plan.processor)
  return { ...processor, [Symbol.asyncDispose]: () => processor.close() }
}

async function compareBooks(store: Store, receipts: ReadonlyMap<string, string>, processor: CampaignProcessor) {
  const gateway = await campaignGateway(processor.place, store, 2_000)
  // Whom nobody has answered for a day is given up; slow payments have come.
  const clock = () => new Date(Date.now() + 25 * 3_600_000)
  const payments = testPayments(store, { clock, timeoutMs: 2_000, gateway })
  processor.payAll()
  const count = async (text: string) => (await store.db.query<{ n: number }>(text)).rows[0]?.n ?? 0
  const open = () => count(`select count(*) as n from donation where status = 'received'`)
  for (let round = 0; round < 100 && (await open()) > 0; round++) {
    await store.db.query(`update donation set lease_until = now() where status = 'received' and waits_for is not null`)
    await settleOpen(payments)
    await sleep(100)
  }
  const kept = await store.db.query<{ transactionId: string; receiptNumber: string }>(
    `select transaction_id, receipt_number from donation where status = 'settled'`,
  )
  const books = new Map(kept.rows.map((row) => [row.transactionId, row.receiptNumber]))
  const held = await processor.held(store)
  const twice = await store.db.query<{ transactionId: string }>(
    `select d.transaction_id from donation d join unnest($1::text[]) as held (reference) using (reference)
      group by d.transaction_id having count(*) > 1`,
    [held.references],
  )
  const sum = async (text: string) => (await store.db.query<{ sum: string }>(text)).rows[0]?.sum ?? '0'
  return {
    lostAnswers: [...receipts].flatMap(([id, receipt]) => (books.get(id) === receipt ? [] : [id])),
    chargedTwice: twice.rows.map((row) => row.transactionId),
    open: await open(),
    differences: await store.snapshot((db) => listDifferences(db, 10)),
    charges: held.sum,
    settled: await sum(
      `select coalesce(sum(amount + addon), 0)::numeric(18, 2) as sum from donation where status = 'settled'`,
    ),
    funding: await sum(`select sum(funding - 1250)::numeric(18, 2) as sum from project where id in (${projects})`),
    months: await sum(
      `select coalesce(sum(amount), 0)::numeric(18, 2) as sum from donation_month where kind = 'gift' and source = 'local'`,
    ),
  }
}

function aDonation(random: () => number, { nonces, wireName, takesPlans }: CampaignProcessor): Record<string, unknown> {
  const nonce = nonces[Math.floor(random() * nonces.length)]
  return donationFields(
    {
      transactionId: randomUUID(),
      amount: (10 + Math.floor(random() * 5000) / 100).toFixed(2),
      project: { id: projects[Math.floor(random() * projects.length)] },
      ...{ ipAddress: '192.0.2.7', userAgent: 'Campaign/1.0' },
      ...(takesPlans && random() < 0.1 && { recurring: true, frequency: 'monthly' }),
    },
    { paymentGatewayNonce: nonce, paymentGateway: wireName },
  )
}

/** The answer; undefined when there was none. */
async function post(
  port: number,
  { apiKey, token }: { apiKey: string; token: string },
  body: unknown,
): Promise<{ status: number; receipt: string; clientSecret?: string | undefined } | undefined> {
  const url = `http://127.0.0.1:${port}/api/secure/givingservice/donationsclient?api_key=${apiKey}&api_token=${token}`
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const json = (await answer.json()) as {
      donation?: { receipt: { receiptNumber: string } }
      error_response?: { requires_action?: { clientSecret: string } }
    }
    const clientSecret = json.error_response?.requires_action?.clientSecret
    return { status: answer.status, receipt: json.donation?.receipt.receiptNumber ?? '', clientSecret }
  } catch {
    return undefined
  }
}

type Api = { readonly child: ChildProcess; readonly port: number }

async function startProcess(file: string, settings: object): Promise<Api> {
  const child = await forkStripped(`test/campaign/support/donation-faults/${file}`, [JSON.stringify(settings)])
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(Number(message)))
    child.once('exit', (code) => reject(new Error(`the API process ended with ${code} before it was ready`)))
  })
  return { child, port }
}

async function kill(api: Api | undefined): Promise<void> {
  if (!api || api.child.exitCode !== null || api.child.signalCode !== null) return
  const ended = new Promise((resolve) => api.child.once('exit', resolve))
  api.child.kill('SIGKILL')
  await ended
}
