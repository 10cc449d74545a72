import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueToken, secretHash } from '../../../../src/accounts/sql/accounts.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import type { Store } from '../../../../src/platform/database/store.js'
import { forkStripped } from '../../../support/cli.js'
import { donationFields, insertDonationTargets, testPayments } from '../../../support/donations.js'
import { randomFrom } from '../../../support/random.js'
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
}

/** What was seen; everything but the counts of faults must be as it should. */
export type CampaignResult = {
  readonly sent: number
  readonly answered: number
  readonly declined: number
  readonly abandoned: number
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
  const keyId = await insertDonationTargets(store.db, projects)
  const apiKey = randomUUID()
  await store.db.query('update api_key set key_hash = $2 where id = $1', [keyId, secretHash(apiKey)])
  await store.db.query(`insert into account_grant select account_id, 'donations', now() from api_key where id = $1`, [
    keyId,
  ])
  const token = await issueToken(store.db, { keyId, timeoutSeconds: 36_000, at: new Date() })
  const apis = await Promise.all(Array.from({ length: processes }, () => startApi(url, plan, processor)))
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
          receipts.set(transactionId, answer.receipt)
          break
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
    }
  }
  const killer = async () => {
    while (running) {
      await sleep(500 + 700 * random())
      const index = Math.floor(random() * apis.length)
      await kill(apis[index])
      seen.kills++
      apis[index] = await startApi(url, plan, processor)
    }
  }
  const cutter = async () => {
    while (running) {
      await sleep(150 + 250 * random())
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
  return { ...seen, ...(await compareBooks(store, receipts, processor)) }
}

async function openProcessor(plan: CampaignPlan): Promise<CampaignProcessor & AsyncDisposable> {
  const processor = await startCampaignProcessor(plan.processor)
  return { ...processor, [Symbol.asyncDispose]: () => processor.close() }
}

async function compareBooks(store: Store, receipts: ReadonlyMap<string, string>, processor: CampaignProcessor) {
  const gateway = await campaignGateway(processor.place, store, 2_000)
  const payments = testPayments(store, { clock: () => new Date(), timeoutMs: 2_000, gateway })
  const count = async (text: string) => (await store.db.query<{ n: number }>(text)).rows[0]?.n ?? 0
  const open = () => count(`select count(*) as n from donation where status = 'received'`)
  for (let round = 0; round < 100 && (await open()) > 0; round++) {
    await settleOpen(payments)
    await sleep(100)
  }
  const kept = await store.db.query<{ transaction_id: string; receipt_number: string }>(
    `select transaction_id, receipt_number from donation where status = 'settled'`,
  )
  const books = new Map(kept.rows.map((row) => [row.transaction_id, row.receipt_number]))
  const held = await processor.held(store)
  const twice = await store.db.query<{ transaction_id: string }>(
    `select d.transaction_id from donation d join unnest($1::text[]) as held (reference) using (reference)
      group by d.transaction_id having count(*) > 1`,
    [held.references],
  )
  const sum = async (text: string) => (await store.db.query<{ sum: string }>(text)).rows[0]?.sum ?? '0'
  return {
    lostAnswers: [...receipts].flatMap(([id, receipt]) => (books.get(id) === receipt ? [] : [id])),
    chargedTwice: twice.rows.map((row) => row.transaction_id),
    open: await open(),
    differences: await store.snapshot((db) => listDifferences(db, 10)),
    charges: held.sum,
    settled: await sum(
      `select coalesce(sum(amount + addon), 0)::numeric(18, 2) as sum from donation where status = 'settled'`,
    ),
    funding: await sum(`select sum(funding - 1250)::numeric(18, 2) as sum from project`),
    months: await sum(
      `select coalesce(sum(amount), 0)::numeric(18, 2) as sum from donation_month where kind = 'gift' and source = 'local'`,
    ),
  }
}

function aDonation(random: () => number, { nonces, wireName }: CampaignProcessor): Record<string, unknown> {
  const nonce = nonces[Math.floor(random() * nonces.length)]
  return donationFields(
    {
      transactionId: randomUUID(),
      amount: (10 + Math.floor(random() * 5000) / 100).toFixed(2),
      project: { id: projects[Math.floor(random() * projects.length)] },
    },
    { paymentGatewayNonce: nonce, paymentGateway: wireName },
  )
}

/** The answer; undefined when there was none. */
async function post(
  port: number,
  { apiKey, token }: { apiKey: string; token: string },
  body: unknown,
): Promise<{ status: number; receipt: string } | undefined> {
  const url = `http://127.0.0.1:${port}/api/secure/givingservice/donationsclient?api_key=${apiKey}&api_token=${token}`
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const json = (await answer.json()) as { donation?: { receipt: { receiptNumber: string } } }
    return { status: answer.status, receipt: json.donation?.receipt.receiptNumber ?? '' }
  } catch {
    return undefined
  }
}

type Api = { readonly child: ChildProcess; readonly port: number }

async function startApi(url: string, { feedsDir }: CampaignPlan, { place }: CampaignProcessor): Promise<Api> {
  const options = JSON.stringify({ url, feedsDir, place })
  const child = await forkStripped('test/campaign/support/donation-faults/api-process.ts', [options])
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
