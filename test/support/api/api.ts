import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { createPasswordHashing } from '../../../src/accounts/passwords.js'
import { ofExtensions } from '../../../src/extensions.js'
import { createApi } from '../../../src/http/api/create-api.js'
import type { ApiDeps } from '../../../src/http/api/deps.js'
import { createApiUser } from '../../../src/http/api/operations/create-api-user.js'
import type { Store } from '../../../src/platform/database/store.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { nextPublication } from '../../../src/release/run.js'
import { listRuns } from '../../../src/work/sql/runs.js'
import { testPayments } from '../money/donations.js'
import { afterFile } from '../runner/after-file.js'
import { temporaryFolder } from '../values/temporary-folder.js'
import { proxyHeaders, testConfig } from './api-config.js'
import { recordTraffic } from './api-traffic.js'

export { proxyHeaders, testConfig }

export const testUser = { email: 'ops@example.org', password: 'p<ss&word "12"', tokenTimeoutSeconds: 36_000 }

/** The whole API over a store of the test's own; `log` holds what it has logged, `now` is what its clock says. */
export type TestApi = {
  readonly app: FastifyInstance
  readonly deps: ApiDeps
  readonly feedsDir: string
  readonly log: readonly Record<string, unknown>[]
  now: Date
  /** A registered key. */
  readonly apiKey: string
}

/** Builds the API as the commands do, with cheap password hashes; closed after the file's tests. */
export async function testApi(store: Store, changes: Partial<ApiDeps> = {}): Promise<TestApi> {
  const feedsDir = await temporaryFolder()
  const log: Record<string, unknown>[] = []
  const test = { now: new Date('2026-11-21T09:00:00Z') }
  const deps: ApiDeps = {
    store,
    reads: changes.store ?? store,
    searches: changes.store ?? store,
    replicas: undefined,
    releases: createReleaseReader(feedsDir),
    feedsDir,
    payments: testPayments(store, { clock: () => test.now }),
    listRuns: (limit) => listRuns(store.db, limit),
    nextRun: () => nextPublication({ store, clock: () => test.now }),
    clock: () => test.now,
    log: pino({ level: 'debug' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    passwords: createPasswordHashing({ memoryCost: 8, timeCost: 1, parallelism: 1 }),
    stopping: new AbortController().signal,
    openPortal: ofExtensions('openPortal')[0],
    config: testConfig,
    ...changes,
  }
  const app = await createApi(ofExtensions('addRoutes'), deps)
  recordTraffic(app)
  afterFile(async () => {
    // A test may have left a request without its answer.
    app.server.closeAllConnections()
    await app.close()
  })
  const { apiKey } = changes.store ? { apiKey: 'none' } : await createApiUser(deps, testUser)
  return Object.assign(test, { app, deps, feedsDir, log, apiKey })
}

/** Listens on a free port of the loopback address and returns the base address. */
export async function listen(app: FastifyInstance): Promise<string> {
  return await app.listen({ host: '127.0.0.1', port: 0 })
}
