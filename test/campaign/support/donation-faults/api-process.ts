import type { AddressInfo } from 'node:net'
import { createPasswordHashing } from '../../../../src/accounts/passwords.js'
import { ofExtensions } from '../../../../src/extensions.js'
import { createApi } from '../../../../src/http/api/create-api.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { createLog } from '../../../../src/platform/observability/log.js'
import { createReleaseReader } from '../../../../src/release/read/release-reader.js'
import { testConfig } from '../../../support/api/api-config.js'
import { testPayments } from '../../../support/money/donations.js'
import { campaignGateway, type ProcessorPlace } from './processors.js'

// An API process for fault campaigns: says its port, and never outlives the test that forked it.
const { url, feedsDir, place, aheadMs } = JSON.parse(process.argv[2] ?? '') as {
  url: string
  feedsDir: string
  place: ProcessorPlace
  aheadMs: number
}
const timeoutMs = 700
const store = openStore({ url, max: 6, applicationName: 'campaign api' })
const clock = () => new Date(Date.now() + aheadMs)
const api = await createApi(ofExtensions('addRoutes'), {
  store,
  reads: store,
  replicas: undefined,
  searches: store,
  clock,
  releases: createReleaseReader(feedsDir),
  feedsDir,
  payments: testPayments(store, { clock, timeoutMs, gateway: await campaignGateway(place, store, timeoutMs) }),
  listRuns: async () => [],
  nextRun: async () => undefined,
  log: createLog('silent'),
  passwords: createPasswordHashing(),
  stopping: new AbortController().signal,
  config: testConfig,
})
await api.listen({ host: '127.0.0.1', port: 0 })
process.once('disconnect', () => process.exit(1))
process.send?.((api.server.address() as AddressInfo).port)
