import { rm } from 'node:fs/promises'
import path from 'node:path'
import { createPasswordHashing } from '../../src/accounts/passwords.js'
import { issueKey } from '../../src/accounts/sql/accounts.js'
import { seed } from '../../src/demo/sql/seed.js'
import { createApiUser } from '../../src/http/api/operations/create-api-user.js'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js'
import { renderProjectTexts } from '../../src/release/render/ready-texts.js'
import type { BenchSetting } from '../suite/bench.js'
import { startGiving } from '../suite/servers.js'
import { apiLimits, baseUrl, currency, seededDay } from '../suite/settings.js'

/** The user whose key the benches use; tokens are asked for with its password. */
export const apiUser = { email: 'bench@example.org', password: 'seven grey herons wade' }

const otherUser = { ...apiUser, email: 'other@example.org' }

/** Connections of the API to the database; floors have as many. */
export const apiPoolSize = 10

/** `giving api` over seeded projects whose records are ready. */
export type FilledApi = {
  readonly projects: number
  readonly store: Store
  readonly url: string
  readonly port: number
  readonly apiKey: string
  /** A key of another account. */
  readonly otherKey: string
}

/**
 * Runs `work` with the API in a process of its own. The benches of one run share the seeded projects; with `--data` they
 * stay for the next run.
 */
export async function withFilledApi<T>(setting: BenchSetting, work: (api: FilledApi) => Promise<T>): Promise<T> {
  const { quick, data, workshop, progress } = setting
  const projects = setting.projects ?? (quick ? 5_000 : 100_000)
  const dataDir = data ? path.resolve(data) : await workshop.sharedFolder('api')
  const server = await openEmbeddedPostgres({ dataDir })
  if (data === undefined) workshop.atEnd(() => rm(server.clusterDir, { recursive: true, force: true }))
  try {
    await using store = openStore({ url: server.url, max: 4, applicationName: 'bench' })
    await fill(store, projects, progress)
    const environment = {
      DATABASE_URL: server.url,
      DATABASE_POOL_SIZE: String(apiPoolSize),
      GIVING_DATA_DIR: path.join(dataDir, 'api'),
      LOG_LEVEL: 'info',
      ...apiLimits,
    }
    await using api = await startGiving(await workshop.program(), 'api', environment, '/healthz')
    const [apiKey, otherKey] = [await keyOf(store, apiUser), await keyOf(store, otherUser)]
    const { rows } = await store.db.query<{ projects: number }>('select count(*) as projects from project')
    const filled = { projects: rows[0]?.projects ?? 0, store, url: server.url, apiKey, otherKey }
    return await work({ ...filled, port: Number(new URL(api.value).port) })
  } finally {
    await server.release()
  }
}

async function keyOf(store: Store, user: typeof apiUser): Promise<string> {
  const deps = { store, passwords: createPasswordHashing(), clock: () => new Date() }
  const { rows } = await store.db.query<{ id: number }>('select id from account where email = $1', [user.email])
  if (rows[0] === undefined) return (await createApiUser(deps, { ...user, tokenTimeoutSeconds: 36_000 })).apiKey
  return (await issueKey(store.db, rows[0].id, deps.clock())).text
}

async function fill(store: Store, projects: number, progress: (what: string) => void): Promise<void> {
  await migrate(store)
  const { rows } = await store.db.query<{ filled: boolean }>('select exists (select from project) as filled')
  if (rows[0]?.filled) return
  progress(`seeding ${projects} projects`)
  await seed(store, { today: seededDay, currency, baseUrl, projects, source: 'local', firstId: 1 })
  const batch = 500
  for (let from = 1; from <= projects; from += batch) {
    progress(`rendering their records: ${from - 1} of ${projects}`)
    await renderProjectTexts(
      store,
      Array.from({ length: batch }, (_, index) => from + index),
    )
  }
  await store.db.query('vacuum analyze')
}
