// Durable donations a second beside the floor of one-row insert-and-commit, on the same connections, in one run; then
// the same for 50 donors of one project. Run: npm run build && node bench/donations.mjs [--seconds 5]
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDonationRequest } from '../dist/src/api/operations/donation-request.js'
import { submitDonation } from '../dist/src/api/operations/submit-donation.js'
import { createSandboxGateway } from '../dist/src/payments/sandbox-gateway.js'
import { openEmbeddedPostgres } from '../dist/src/store/embedded/index.js'
import { ledgerDifferences } from '../dist/src/store/ledger.js'
import { migrate } from '../dist/src/store/migrate.js'
import { openStore } from '../dist/src/store/store.js'

const connections = 10
const donors = 50
const projects = 500
const leastRatio = 0.25

/** Runs the bench and prints it; gives whether the ratio is at least what is asked for. */
export async function run({ seconds = 5, print = console.log } = {}) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'giving-bench-'))
  const server = await openEmbeddedPostgres({ dataDir })
  const store = openStore({ url: server.url, max: connections, applicationName: 'bench donations' })
  try {
    await migrate(store)
    const keyId = await prepare(store)
    const clock = () => new Date()
    const payments = {
      store,
      clock,
      gateway: createSandboxGateway({ store, clock }),
      timeoutMs: 10_000,
      feePercent: '5',
      currency: 'USD',
      warn: () => undefined,
    }
    const floorOf = () =>
      perSecond(connections, seconds, () =>
        store.db.query('insert into bench_floor (note) values ($1)', ['one row'], 'floor'),
      )
    const donateTo = (projectOf) => (n) =>
      submitDonation(payments, { keyId, requestId: randomUUID() }, requestFor(projectOf(n)))
    await perSecond(
      donors,
      1,
      donateTo((n) => (n % projects) + 1),
    )
    // The floor before and after, so that a machine that slows down or speeds up is seen.
    const before = await floorOf()
    const spread = await perSecond(
      donors,
      seconds,
      donateTo((n) => (n % projects) + 1),
    )
    const hot = await perSecond(
      donors,
      seconds,
      donateTo(() => 1),
    )
    const after = await floorOf()
    const floor = (before + after) / 2
    const differences = await ledgerDifferences(store.db, 10)
    print(`floor: one-row insert and commit, ${connections} connections  ${round(before)} and ${round(after)} a second`)
    print(
      `donations, ${donors} donors over ${projects} projects              ${round(spread)} a second, ${ratio(spread, floor)} of the floor`,
    )
    print(
      `donations, ${donors} donors of one project                    ${round(hot)} a second, ${ratio(hot, floor)} of the floor`,
    )
    print(
      'A donation is two waited-for commits (intent; outcome with totals, month, fee, receipt and event) and one of the sandbox. ' +
        "Donors of one project take turns at its row, each for its statement and its commit's flush, since each is told the totals after its own donation.",
    )
    print(`the ledger after it: ${differences.length === 0 ? 'the books agree' : JSON.stringify(differences)}`)
    const passed = spread / floor >= leastRatio && differences.length === 0
    print(passed ? `passed: at least ${leastRatio}` : `FAILED: expected at least ${leastRatio} and books that agree`)
    return passed
  } finally {
    await store.close()
    await server.release()
    await rm(server.clusterDir, { recursive: true, force: true })
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function prepare(store) {
  await store.db.query(
    'create table bench_floor (id bigint generated always as identity primary key, note text not null)',
  )
  await store.db.query(
    `insert into project (id, active, status, title, goal, source)
      select id, true, 'active', 'Project ' || id, 1000000, 'local' from generate_series(1, ${projects}) id`,
  )
  const { rows } = await store.db.query(
    `with owner as (insert into account (email, password_hash, created_at) values ('bench@example.org', 'x', now()) returning id)
      insert into api_key (account_id, key_hash, created_at) select id, sha256('bench'), now() from owner returning id`,
  )
  return rows[0].id
}

function requestFor(projectId) {
  return readDonationRequest(
    {
      refcode: 'bench',
      transactionId: randomUUID(),
      email: 'bench@example.org',
      amount: '25.00',
      project: { id: projectId },
      payment_detail: {
        ...{ firstname: 'Ben', lastname: 'Ch', paymentGateway: 'sandbox', paymentGatewayKey: 'key' },
        paymentGatewayNonce: 'fake-valid-nonce',
      },
    },
    { version: 2, currency: 'USD', gateways: ['sandbox'], mayNote: false, mayNamePartner: false },
  )
}

async function perSecond(concurrency, seconds, work) {
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

const round = (value) => Math.round(value)
const ratio = (value, of) => (value / of).toFixed(2)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const index = process.argv.indexOf('--seconds')
  const seconds = index > 0 ? Number(process.argv[index + 1]) : 5
  process.exitCode = (await run({ seconds })) ? 0 : 1
}
