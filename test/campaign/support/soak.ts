import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createPasswordHashing } from '../../../src/accounts/passwords.js'
import { recordGrant } from '../../../src/accounts/sql/account-administration.js'
import { createApiUser } from '../../../src/http/api/operations/create-api-user.js'
import { demoReportingOrgRef } from '../../../src/kernel/demo-publisher.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import { migrate } from '../../../src/platform/database/migrate.js'
import { openStore } from '../../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { newInstallation, type RunningService } from '../../support/commands/cli.js'
import { donationFields, insertDonationTargets } from '../../support/money/donations.js'
import { aRecord, startUpstream, apiKey as upstreamKey } from '../../support/servers/upstream-server.js'

/**
 * `npm run test:soak -- --hours H`: an API and two workers under publications, syncs, imports, donations, reads and a fault
 * every 20 s. What they hold at the end is at most a tenth more, and one file, connection or megabyte, than after the first
 * tenth of the time; exit code 1 when not, or when the books do not agree. With `--together` one `giving start` does all of
 * it: it may have 400 MB, and what grows is only printed, since half an hour is not enough to judge it.
 */
const { values } = parseArgs({
  options: { hours: { type: 'string', default: '2' }, together: { type: 'boolean', default: false } },
})
const mostMegabytes = 400
const totalMs = Number(values.hours) * 3_600_000
if (!(totalMs > 0)) throw new Error(`--hours must be a number above 0, got "${values.hours}"`)

const folder = await mkdtemp(path.join(tmpdir(), 'giving-soak-'))
const server = await openEmbeddedPostgres({ dataDir: path.join(folder, 'database') })
const store = openStore({ url: server.url, max: 4, applicationName: 'soak test' })
await migrate(store)
const upstream = await startUpstream({ records: Array.from({ length: 60 }, (_, index) => aRecord(1001 + index)) })
const installation = await newInstallation({
  DATABASE_URL: server.url,
  REPORTING_ORG_REF: demoReportingOrgRef,
  PUBLISH_SCHEDULE: '*/15 * * * * *',
  PUBLISH_KEEP_RELEASES: '3',
  QUEUE_LOCK_SECONDS: '10',
})
// A mirror needs a publisher of its own, and donations to a sandbox are refused beside one.
const mirror = await newInstallation({
  DATABASE_URL: server.url,
  UPSTREAM_URL: upstream.url,
  UPSTREAM_API_KEY: upstreamKey,
  ALLOW_PRIVATE_NETWORKS: 'true',
  REPORTING_ORG_REF: 'US-EIN-123456789',
  FACTS_CONFIRMED: 'yes',
})
await insertDonationTargets(store.db, [2045])
const user = { email: 'soak@example.org', password: 'seven quiet rivers run', tokenTimeoutSeconds: 10_000_000 }
const { apiKey } = await createApiUser({ store, clock: () => new Date(), passwords: createPasswordHashing() }, user)
const { rows: accounts } = await store.db.query<{ id: number }>('select id from account where email = $1', [user.email])
await recordGrant(store.db, accounts[0]?.id ?? 0, 'donations', new Date())

const api = values.together ? await installation.start() : await installation.serve('api')
const steady = values.together ? undefined : await installation.serve('worker')
let killed = values.together ? undefined : await installation.serve('worker')
const token = await signIn()

const seen = { publications: 0, syncs: 0, imports: 0, donations: 0, reads: 0, faults: 0 }
const samples: Sample[] = []
const beganAt = performance.now()
const elapsed = () => performance.now() - beganAt
let round = 0
// The tables have their rows before anything is compared.
await importRecords()
await syncRecords()
await Promise.all([
  every(2_000, read),
  every(5_000, donate),
  every(30_000, importRecords),
  every(45_000, syncRecords),
  every(20_000, disturb),
  every(Math.min(10_000, totalMs / 60), async () => void samples.push(await takeSample())),
])
const wrong = await judge()
for (const line of wrong) console.log(line)
console.log(wrong.length === 0 ? 'all is well' : `${wrong.length} problems`)
process.exitCode = wrong.length === 0 ? 0 : 1
const services = [api, steady, killed].filter((service) => service !== undefined)
for (const service of services) service.kill('SIGTERM')
await Promise.all(services.map(({ ended }) => ended))
await upstream.close()
await installation.remove()
await mirror.remove()
await store.close()
await server.release()
await rm(server.clusterDir, { recursive: true, force: true })
await rm(folder, { recursive: true, force: true })

/** Does the work again and again until the time is over; a failure during a fault is no news. */
async function every(pauseMs: number, work: () => Promise<void>): Promise<void> {
  while (elapsed() < totalMs) {
    await work().catch(() => undefined)
    await sleep(pauseMs)
  }
}

async function signIn(): Promise<string> {
  const auth_request = { user: { email: user.email, password: user.password }, api_key: apiKey }
  const answer = await post('/api/userservice/tokens', { auth_request })
  return (answer as { auth_response: { access_token: string } }).auth_response.access_token
}

async function post(address: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const answer = await fetch(api.baseUrl + address, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`)
  return await answer.json()
}

async function read(): Promise<void> {
  const list = `/api/public/projectservice/all/projects.json?api_key=${apiKey}`
  for (const address of ['/', '/projects', '/iati/activities.xml', '/feeds/manifest.json', list, '/status']) {
    const answer = await fetch(api.baseUrl + address)
    await answer.arrayBuffer()
    if (answer.ok) seen.reads++
  }
}

async function donate(): Promise<void> {
  const donation = donationFields({ transactionId: randomUUID(), amount: '12.50' })
  await post(`/api/secure/givingservice/donationsclient?api_key=${apiKey}&api_token=${token}`, { donation })
  seen.donations++
}

async function importRecords(): Promise<void> {
  const file = path.join(folder, 'projects.csv')
  const modified = new Date().toISOString()
  const title = `Imported in round ${++round}`
  const rows = Array.from({ length: 100 }, (_, index) => `${3001 + index},true,active,${title},8000,100,4,${modified}`)
  await writeFile(file, `id,active,status,title,goal,funding,numberOfDonations,modifiedDate\n${rows.join('\n')}\n`)
  if ((await installation.run(['import', '--kind', 'projects', file])).code === 0) seen.imports++
}

async function syncRecords(): Promise<void> {
  upstream.state.records = upstream.state.records.map(({ id }) =>
    aRecord(id, { title: `Mirrored in round ${++round}` }),
  )
  if ((await mirror.run(['sync', '--full', '--wait'])).code === 0) seen.syncs++
}

/** Cuts connections, kills a worker where there are two, or lets the upstream fail, in turn. */
async function disturb(): Promise<void> {
  const way = seen.faults++ % 3
  if (way === 0) {
    await store.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'giving%' and random() < 0.5`,
    )
  } else if (way === 1 && killed) {
    killed.kill('SIGKILL')
    await killed.ended
    killed = await installation.serve('worker')
  } else {
    upstream.state.fault = (_request, response) => response.writeHead(503).end() !== undefined
    await sleep(5_000)
    upstream.state.fault = undefined
  }
}

/** What is held at a moment: a number for each measure. */
type Sample = Readonly<Record<string, number>>

async function takeSample(): Promise<Sample> {
  const processes = steady ? { api, 'steady worker': steady } : { 'giving start': api }
  const held = Object.entries(processes).flatMap(([name, service]) => [
    [`resident MB of the ${name}`, residentMegabytes(service)] as const,
    [`open files of the ${name}`, readdirSync(`/proc/${service.pid}/fd`).length] as const,
  ])
  const { rows } = await store.db.query<{ connections: number; bytes: number }>(
    `select (select count(*) from pg_stat_activity where datname = current_database()) as connections,
      (select sum(pg_total_relation_size(oid)) from pg_class
        where relname in ('project', 'rendering', 'project_search', 'organisation'))::bigint as bytes`,
  )
  const [{ connections = 0, bytes = 0 } = {}] = rows
  return { ...Object.fromEntries(held), connections, 'MB of the tables that keep their rows': bytes / 1_048_576 }
}

function residentMegabytes({ pid }: RunningService): number {
  return (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / 1e6
}

/** Compares the last tenth of the samples with those after the first tenth, each by its median. */
async function judge(): Promise<string[]> {
  const tenth = Math.max(1, Math.floor(samples.length / 10))
  const problems: string[] = []
  for (const name of Object.keys(samples[0] ?? {})) {
    const median = (part: readonly Sample[]) => {
      const sorted = part.map((sample) => sample[name] ?? 0).sort((a, b) => a - b)
      return sorted[Math.floor(sorted.length / 2)] ?? 0
    }
    const [before, after] = [median(samples.slice(tenth, 2 * tenth)), median(samples.slice(-tenth))]
    const all = samples.slice(tenth).map((sample) => sample[name] ?? 0)
    const times = `${(after / before).toFixed(2)} times, ${slope(all).toFixed(2)} an hour, at most ${Math.max(...all).toFixed(1)}`
    const line = `${name}: ${before.toFixed(1)}, at the end ${after.toFixed(1)} (${times})`
    console.log(line)
    // Tables of 2 MB keep the dead rows of one publication more or less, as autovacuum comes: 0.2 MB.
    if (!values.together && after > 1.1 * before + 1) problems.push(`grew: ${line}`)
    if (values.together && name.startsWith('resident MB') && Math.max(...all) > mostMegabytes) {
      problems.push(`more than ${mostMegabytes} MB: ${line}`)
    }
  }
  seen.publications = await count(`select count(*) as n from run where state in ('published', 'unchanged')`)
  console.log(`${(elapsed() / 60_000).toFixed(1)} minutes: ${JSON.stringify(seen)}`)
  const differences = await store.snapshot((db) => listDifferences(db, 10))
  return [...problems, ...differences.map((difference) => `the books differ: ${JSON.stringify(difference)}`)]
}

/** How much values that were taken at equal distances over these hours rise in an hour, by least squares. */
function slope(all: readonly number[]): number {
  const hours = (elapsed() / 3_600_000) * (all.length / samples.length)
  const middle = (all.length - 1) / 2
  const mean = all.reduce((sum, one) => sum + one, 0) / all.length
  const rise = all.reduce((sum, one, at) => sum + (at - middle) * (one - mean), 0)
  const run = all.reduce((sum, _one, at) => sum + (at - middle) ** 2, 0)
  return (rise / run) * (all.length / hours)
}

async function count(sql: string): Promise<number> {
  return (await store.db.query<{ n: number }>(sql)).rows[0]?.n ?? 0
}
