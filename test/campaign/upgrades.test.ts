import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { formerDemoRef } from '../../src/kernel/demo-publisher.js'
import type { Store } from '../../src/platform/database/store.js'
import { type Installation, newInstallation } from '../support/commands/cli.js'
import { readProjectFile } from '../support/documents/markdown-table.js'
import { donationFields } from '../support/money/donations.js'
import { startReadyProxy } from '../support/servers/ready-proxy.js'
import { emptyDatabase } from '../support/store/database.js'
import { dumpSchema } from '../support/store/schema/dump-schema.js'
import { earlierVersions, sourcesOf } from './support/earlier-versions.js'
import { watchTableLocks } from './support/lock-watch.js'
import { duration, record } from './support/record.js'
import { scaled } from './support/scale.js'

const projects = 300
const lookMs = 200
// Donations that move no money are taken for it only.
const trialPublisher = formerDemoRef

// UPGRADE_FROM='43050de 8258f63' tries these.
const versions = earlierVersions(process.env.UPGRADE_FROM?.split(' ')).slice(0, scaled(12))
if (versions.length === 0) console.log('no upgrade is tried: this clone has no commit from before the newest migration')

describe.skipIf(versions.length === 0)('upgrades under load', () => {
  it.each(versions)('from $commit, through $unknown', async (version) => {
    const { store, url } = await emptyDatabase()
    const sources = await sourcesUntilEnd(version.commit)
    // Long enough for a proxy on a busy machine to see that a process leaves.
    const environment = { DATABASE_URL: url, REPORTING_ORG_REF: trialPublisher, SHUTDOWN_DRAIN_SECONDS: '20' }
    const older = await newInstallation(environment, { sources })
    onTestFinished(older.remove)
    const newer = await newInstallation({ ...environment, GIVING_DATA_DIR: older.dataDir })
    onTestFinished(newer.remove)

    await giving(older, 'seed', '--projects', `${projects}`)
    const [oldApi, oldWorker] = [await older.serve('api'), await older.serve('worker')]
    await giving(older, 'publish', '--wait')
    const proxy = await startReadyProxy(lookMs)
    onTestFinished(proxy.close)
    await proxy.add(oldApi.baseUrl)
    const load = await startPlatform(store, proxy.baseUrl, await credentials(older, proxy.baseUrl))

    if (version.through !== undefined) {
      const between = await newInstallation(
        { ...environment, GIVING_DATA_DIR: older.dataDir },
        { sources: await sourcesUntilEnd(version.through) },
      )
      onTestFinished(between.remove)
      await giving(between, 'migrate')
    }
    const locks = watchTableLocks(store)
    expect((await giving(newer, 'migrate')).applied).toEqual(version.unknown)
    const { heldMs, waitedMs } = await locks()
    expect(await store.snapshot(dumpSchema)).toBe(readProjectFile('test/support/store/schema/schema.sql'))
    await giving(older, 'publish', '--wait')
    const newApi = await newer.serve('api')
    await proxy.add(newApi.baseUrl)
    await newer.serve('worker')
    await sleep(5 * lookMs)
    for (const one of [oldWorker, oldApi]) {
      one.kill('SIGTERM')
      expect(await one.ended, one.output().slice(-2000)).toBe(0)
    }
    proxy.remove(oldApi.baseUrl)
    await giving(newer, 'publish', '--wait')
    const { answers, donations, faults } = await load.stop()
    expect({ failures: proxy.failures, faults }).toEqual({ failures: [], faults: [] })
    // The way back: the older program again, on what the newer one has written.
    const back = await older.serve('api')
    expect((await fetch(`${back.baseUrl}/iati/activities.xml`)).status).toBe(200)
    await giving(older, 'publish', '--wait')

    expect(await giving(newer, 'books', 'check')).toMatchObject({ differences: [] })
    const { rows } = await store.db.query(`select count(*)::int as n from donation where status = 'settled'`)
    expect(rows).toEqual([{ n: donations }])
    record({
      name: `upgrade under load from the version before ${version.unknown[0]}`,
      engine: 'PostgreSQL',
      tried: version.unknown.length,
      outcome: `${answers} requests (${donations} donations), none failed; the longest lock on a table ${duration(heldMs)}, the longest wait for one ${duration(waitedMs)}`,
    })
  })
})

/** The sources of a commit, until the test ends. */
async function sourcesUntilEnd(commit: string): Promise<string> {
  const sources = await sourcesOf(commit)
  onTestFinished(() => rm(sources, { recursive: true }))
  return sources
}

/** Runs a command to its good end; what it answers. */
async function giving(installation: Installation, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await installation.run([...args, '--json'])
  expect(code, `giving ${args.join(' ')}: ${stdout}${stderr}`).toBe(0)
  return JSON.parse(stdout) as Record<string, unknown>
}

async function credentials(installation: Installation, baseUrl: string): Promise<string> {
  const user = { email: 'ops@example.org', password: 'seven quiet rivers run' }
  const create = ['users', 'create', '--email', user.email, '--password-stdin', '--json']
  const { apiKey } = JSON.parse((await installation.run(create, `${user.password}\n`)).stdout) as { apiKey: string }
  await giving(installation, 'users', 'grant', 'donations', '--email', user.email)
  const answer = await fetch(`${baseUrl}/api/userservice/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auth_request: { user, api_key: apiKey } }),
  })
  const { auth_response } = (await answer.json()) as { auth_response: { access_token: string } }
  return `api_key=${apiKey}&api_token=${auth_response.access_token}`
}

/** Readers, donors and the platform's own writes, none of which may fail. */
async function startPlatform(store: Store, baseUrl: string, query: string) {
  const faults = new Set<string>()
  let [answers, donations, ended] = [0, 0, false]
  const repeat = async (work: (turn: number) => Promise<void>) => {
    for (let turn = 0; !ended; turn++) {
      await work(turn).catch((error: unknown) => faults.add(inspect(error)))
    }
  }
  const ask = async (address: string, body?: unknown) => {
    const answer = await fetch(`${baseUrl}${address}`, {
      ...(body !== undefined && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    })
    const text = await answer.text()
    answers++
    if (answer.status !== 200) throw new Error(`${address}: ${answer.status} ${text.slice(0, 300)}`)
  }
  // Donations bring none of these to its goal, where it would take no more.
  const { rows } = await store.db.query<{ id: number }>(
    `select id from project where active and status = 'active' order by remaining desc limit 50`,
  )
  const project = (turn: number) => rows[turn % rows.length]?.id ?? 0
  const reads = [
    () => '/iati/activities.xml',
    () => '/feeds/manifest.json',
    () => `/api/public/projectservice/all/projects.json?${query}`,
    (turn: number) => `/api/public/projectservice/projects/${project(turn)}/summary?${query}`,
    (turn: number) => `/api/public/services/search/projects?q=water&start=${turn % 20}&${query}`,
    (turn: number) => `/api/public/projectservice/projects/${project(turn)}/reports?${query}`,
    () => `/api/public/orgservice/all/organizations?${query}`,
  ]
  const read = async (turn: number) => {
    await ask(reads[turn % reads.length]?.(turn) ?? '')
    // The proxy is in this process and must have its turns.
    await sleep(50)
  }
  const donate = async (turn: number) => {
    const donation = donationFields({ transactionId: randomUUID(), project: { id: project(turn) } })
    await ask(`/api/secure/givingservice/donationsclient?${query}`, { donation })
    donations++
  }
  const write = async (turn: number) => {
    await store.transaction(async (db) => {
      await db.query('update project set summary = $2 where id = $1', [project(turn), `Version ${turn}`])
      await db.query(
        `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url, source)
          values ($1, $2, 'Progress', now(), now(), '<p>It works.</p>', $3, 'local')`,
        [900_000 + turn, project(turn), `https://giving.example/reports/${turn}`],
      )
    })
    await sleep(20)
  }
  const working = [...Array.from({ length: 6 }, () => repeat(read)), repeat(donate), repeat(donate), repeat(write)]
  return {
    stop: async () => {
      ended = true
      await Promise.all(working)
      return { answers, donations, faults: [...faults] }
    },
  }
}
