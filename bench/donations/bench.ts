import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { readDonationRequest } from '../../src/http/api/operations/donation-request.js'
import type { CurrencyCode, Decimal } from '../../src/kernel/money.js'
import { DonorVault } from '../../src/money/donors/donor-vault.js'
import { createSandboxGateway } from '../../src/money/gateways/sandbox/sandbox-gateway.js'
import { usualLimits } from '../../src/money/payments.js'
import { listDifferences } from '../../src/money/sql/books-check.js'
import { createDonationBooks } from '../../src/money/sql/donation-books.js'
import { countDonorsByKey } from '../../src/money/sql/donors.js'
import { submitDonation } from '../../src/money/submit-donation.js'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js'
import { atLeast, atMost, type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'

const connections = 10
const donors = 100
const hotDonors = 50
const projects = 500
const earlierDonations = 20_000
const leastRatio = 0.25
const usd = 'USD' as CurrencyCode

/**
 * Durable donations a second with encrypted donors, without HTTP, beside the floor of one-row insert-and-commit on the same
 * connections, in turns, so that a machine that slows down slows both: for 100 donors, then for 50 donors of one project.
 * Donations must reach 0.25 of the floor, and the books must agree afterwards. `--quick`: shorter.
 */
export const bench: Bench = {
  name: 'donations',
  about: 'durable donations beneath HTTP, donors encrypted, beside one-row insert-and-commit on the same connections',
  byDefault: false,
  run,
}

async function run({ quick, say }: BenchSetting): Promise<BenchResult> {
  const [rounds, seconds] = quick ? [2, 1.5] : [5, 4]
  const dataDir = await mkdtemp(path.join(tmpdir(), 'giving-bench-'))
  const server = await openEmbeddedPostgres({ dataDir })
  try {
    await using store = openStore({ url: server.url, max: connections, applicationName: 'bench donations' })
    return await measure(store, { rounds, seconds, say })
  } finally {
    await server.release()
    await rm(server.clusterDir, { recursive: true, force: true })
    await rm(dataDir, { recursive: true, force: true })
  }
}

type Plan = { readonly rounds: number; readonly seconds: number; say(line: string): void }

async function measure(store: Store, { rounds, seconds, say }: Plan): Promise<BenchResult> {
  await migrate(store)
  const keyId = await prepare(store)
  const clock = () => new Date()
  const payments = {
    store,
    clock,
    books: createDonationBooks(store.db),
    donors: new DonorVault([{ id: 'bench', secret: randomBytes(32) }]),
    gateway: createSandboxGateway({ store, clock }),
    timeoutMs: 10_000,
    limits: { USD: usualLimits },
    feePercent: '5' as Decimal,
    currency: usd,
    warn: () => undefined,
  }
  const insertOne = () => store.db.query('insert into bench_floor (note) values ($1)', ['one row'], 'floor')
  const donateTo = (projectOf: (n: number) => number) => (n: number) =>
    submitDonation(payments, { account: 'bench@example.org', keyId, requestId: randomUUID() }, requestFor(projectOf(n)))
  const [spreadOut, toOne] = [donateTo((n) => (n % projects) + 1), donateTo(() => 1)]
  await perSecond(donors, 1, spreadOut)
  const seen: { floor: number[]; spread: number[]; hot: number[] } = { floor: [], spread: [], hot: [] }
  for (let round = 0; round < rounds; round++) {
    seen.floor.push(await perSecond(connections, seconds, insertOne))
    seen.spread.push(await perSecond(donors, seconds, spreadOut))
    seen.hot.push(await perSecond(hotDonors, seconds, toOne))
  }
  const [floor, spread, hot] = [median(seen.floor), median(seen.spread), median(seen.hot)]
  const differences = await listDifferences(store.db, 10)
  const clear = (await countDonorsByKey(store.db)).find(({ keyId }) => keyId === undefined)?.donors ?? 0
  const line = (what: string, value: number, all: readonly number[]) =>
    say(
      `${what.padEnd(58)} ${Math.round(value)}/s, ${(value / floor).toFixed(2)} of the floor (${all.map(Math.round).join(', ')})`,
    )
  say(
    `${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, ${connections} connections, medians of ${rounds} rounds`,
  )
  line('floor: one-row insert and commit', floor, seen.floor)
  line(`donations, ${donors} donors over ${projects} projects`, spread, seen.spread)
  line(`donations, ${hotDonors} donors of one project`, hot, seen.hot)
  say(
    'A donation waits for two commits: its intent, and its outcome with totals, month, fee, receipt and event. What comes\n' +
      'while one is written is written with the next, so donors of one project share the lock on its row and the flush\n' +
      'instead of taking turns at them; each is still told the totals after its own donation.',
  )
  const agree = differences.length === 0
  say(agree ? 'the books agree' : `the books differ: ${JSON.stringify(differences)}`)
  return {
    bars: [
      atLeast(leastRatio, 'donations of 100 donors, of one-row insert-and-commit', spread / floor),
      atMost(0, 'donors that are not encrypted', clear, 'donors'),
      atMost(0, 'differences between the books', differences.length, 'rows'),
    ],
  }
}

async function prepare(store: Store): Promise<number> {
  await store.db.query(
    'create table bench_floor (id bigint generated always as identity primary key, note text not null)',
  )
  await store.db.query(
    `insert into project (id, active, status, title, goal, source)
      select id, true, 'active', 'Project ' || id, 1000000, 'local' from generate_series(1, $1::integer) id`,
    [projects],
  )
  // Statistics of filled tables: plans for empty ones would be slow.
  await store.db.query(
    `insert into donation (project_id, amount, currency, settled_at, source)
      select id % $1::integer + 1, 25, 'USD', now() - interval '1 year', 'local' from generate_series(1, $2::integer) id`,
    [projects, earlierDonations],
  )
  await store.db.query('vacuum analyze')
  const { rows } = await store.db.query<{ id: number }>(
    `with owner as (
        insert into account (email, password_hash, created_at) values ('bench@example.org', 'x', now()) returning id)
      insert into api_key (account_id, key_hash, created_at) select id, sha256('bench'), now() from owner returning id`,
  )
  return rows[0]?.id ?? 0
}

function requestFor(projectId: number) {
  const paymentDetail = {
    ...{ firstname: 'Ben', lastname: 'Ch', paymentGateway: 'sandbox', paymentGatewayKey: 'key' },
    paymentGatewayNonce: 'fake-valid-nonce',
  }
  const fields = {
    ...{ refcode: 'bench', transactionId: randomUUID(), email: 'bench@example.org', amount: '25.00' },
    project: { id: projectId },
    payment_detail: paymentDetail,
  }
  const rules = {
    version: 2,
    currency: usd,
    limits: { USD: usualLimits },
    gateways: ['sandbox'],
    mayNote: false,
    mayNamePartner: false,
  } as const
  return readDonationRequest(fields, rules)
}

async function perSecond(concurrency: number, seconds: number, work: (n: number) => Promise<unknown>): Promise<number> {
  let [next, done] = [0, 0]
  const started = performance.now()
  const end = started + seconds * 1000
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < end) {
        await work(next++)
        done++
      }
    }),
  )
  return (done * 1000) / (performance.now() - started)
}
