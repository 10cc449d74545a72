import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { createPasswordHashing } from '../../src/accounts/passwords.js'
import { createSyncRun, finishSync } from '../../src/catalogue/sql/sync-runs.js'
import { runSync } from '../../src/catalogue/sync/sync.js'
import { type GetOptions, type Query, UpstreamClient } from '../../src/catalogue/sync/upstream-client.js'
import { seed } from '../../src/demo/sql/seed.js'
import { createApiUser } from '../../src/http/api/operations/create-api-user.js'
import type { IsoDate } from '../../src/kernel/dates.js'
import type { CurrencyCode } from '../../src/kernel/money.js'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js'
import { renderProjectTexts } from '../../src/release/render/ready-texts.js'
import type { SyncKind } from '../../src/work/run.js'
import { claimRun } from '../../src/work/sql/leases.js'
import { prepareForTests } from '../../test/support/store/administrator.js'
import type { Bench, BenchResult, BenchSetting } from '../suite/bench.js'
import { startGiving } from '../suite/servers.js'
import { apiLimits } from '../suite/settings.js'

const clock = () => new Date()
const { signal } = new AbortController()
const seconds = 100_000

type Asked = { readonly path: string; readonly query: Query; readonly options: GetOptions }

/** Records its requests, so that the floor can send the same. */
class RecordingClient extends UpstreamClient {
  readonly asked: Asked[] = []

  override async get<T>(
    ...[path, query, options, read]: Parameters<typeof UpstreamClient.prototype.get<T>>
  ): Promise<T> {
    this.asked.push({ path, query, options })
    return await super.get(path, query, options, read)
  }
}

/**
 * A full sync from a loopback instance of this service into an empty store, one that finds nothing new, and an
 * incremental one, each beside the floor: the same requests by the same client, in the same order, their answers discarded.
 */
export const bench: Bench = {
  name: 'sync',
  about: 'a mirror of an upstream catalogue, beside the same requests with their answers thrown away',
  byDefault: false,
  run,
}

async function run({ quick, workshop, say: print }: BenchSetting): Promise<BenchResult> {
  const projects = quick ? 500 : 3_000
  const dataDir = await mkdtemp(path.join(tmpdir(), 'giving-bench-'))
  const server = await openEmbeddedPostgres({ dataDir })
  try {
    await prepareForTests(dataDir, server.url)
    await using theirs = openStore({ url: server.url, max: 4, applicationName: 'bench upstream' })
    const apiKey = await fill(theirs, projects)
    await theirs.db.query('create database mirror')
    const mirrorUrl = new URL(server.url)
    mirrorUrl.pathname = '/mirror'
    await using ours = openStore({ url: mirrorUrl.href, max: 4, applicationName: 'bench mirror' })
    await migrate(ours)
    const environment = {
      DATABASE_URL: server.url,
      GIVING_DATA_DIR: path.join(dataDir, 'api'),
      LOG_LEVEL: 'warn',
      ...apiLimits,
    }
    await using api = await startGiving(await workshop.program(), 'api', environment, '/healthz')
    const url = api.value
    const cpu = cpus()[0]?.model.trim() ?? 'unknown processor'
    print(
      `${projects} projects; ${availableParallelism()} x ${cpu}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`,
    )
    print(
      `${'sync'.padEnd(26)}${'requests'.padStart(9)}${'projects/s'.padStart(12)}${'floor'.padStart(10)}${'ratio'.padStart(8)}`,
    )
    await measure('full, empty mirror', 'full', projects)
    await measure('full, nothing new', 'full', projects)
    await theirs.db.query(`update project set title = title || '.' where id % 10 = 3`)
    await measure('incremental, a tenth new', 'incremental', projects / 10)
    return { bars: [] }

    async function measure(name: string, kind: SyncKind, count: number): Promise<void> {
      await using client = new RecordingClient({
        ...{ url, apiKey, concurrency: 4, requestsPerSecond: 10_000 },
        ...{ allowPrivateNetworks: true, userAgent: 'giving bench' },
      })
      const { id } = await createSyncRun(ours.db, { kind, trigger: 'manual', upstream: url, at: clock() })
      const wanted = { kind: 'sync', runId: id, owner: 'bench', seconds } as const
      const claim = await claimRun(ours.db, wanted, clock())
      if (claim.kind !== 'claimed') throw new Error(`the sync is ${claim.kind}`)
      const lease = { ...wanted, attempt: claim.attempt }
      const syncing = performance.now()
      const work = { store: ours, client, clock, currency: 'USD' as CurrencyCode, lease, run: claim.run, signal }
      const outcome = await runSync(work)
      const syncMs = performance.now() - syncing
      if (outcome.state !== 'done') throw new Error(`the sync is ${outcome.state}: ${outcome.reason}`)
      await finishSync(ours.db, lease, outcome, clock())
      const floorMs = await readAgain(client)
      const perSecond = (ms: number) => (count / ms) * 1000
      print(
        name.padEnd(26) +
          String(client.asked.length).padStart(9) +
          perSecond(syncMs).toFixed(0).padStart(12) +
          perSecond(floorMs).toFixed(0).padStart(10) +
          (floorMs / syncMs).toFixed(2).padStart(8),
      )
    }
  } finally {
    await server.release()
    await rm(server.clusterDir, { recursive: true, force: true })
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** The floor: lists one after the other, as their cursors demand; details as concurrently as the sync. */
async function readAgain(client: RecordingClient): Promise<number> {
  const asked = [...client.asked]
  const discard = ({ path: address, query, options }: Asked) =>
    UpstreamClient.prototype.get.call(
      client,
      address,
      query,
      { ...options, expected: [400, 404, 410, 503] },
      () => undefined,
    )
  const isDetail = ({ path: address }: Asked) => /\/(reports|imagegallery)$/.test(address)
  const began = performance.now()
  for (const one of asked.filter((request) => !isDetail(request))) await discard(one)
  const details = asked.filter(isDetail)
  for (let from = 0; from < details.length; from += 10) await Promise.all(details.slice(from, from + 10).map(discard))
  return performance.now() - began
}

async function fill(store: Store, projects: number): Promise<string> {
  await migrate(store)
  const settings = {
    today: '2026-11-20' as IsoDate,
    currency: 'USD' as CurrencyCode,
    baseUrl: 'https://giving.example',
  }
  await seed(store, { ...settings, projects, source: 'local', firstId: 1 })
  for (let from = 1; from <= projects; from += 500) {
    await renderProjectTexts(
      store,
      Array.from({ length: Math.min(500, projects - from + 1) }, (_, index) => from + index),
    )
  }
  await store.db.query('vacuum analyze')
  const user = { email: 'bench@example.org', password: 'seven grey herons wade', tokenTimeoutSeconds: 36_000 }
  const passwords = createPasswordHashing({ memoryCost: 8, timeCost: 1, parallelism: 1 })
  return (await createApiUser({ store, passwords, clock }, user)).apiKey
}
