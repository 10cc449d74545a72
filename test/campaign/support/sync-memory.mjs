import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createSyncRun } from '../../../dist/src/catalogue/sql/sync-runs.js'
import { syncInline, syncSettings } from '../../../dist/src/catalogue/sync/run.js'
import { readConfig } from '../../../dist/src/platform/config/config.js'
import { openStore } from '../../../dist/src/platform/database/store.js'

// A full sync as the built program does it, in a process of its own; prints how it ended, how much memory it took, and for
// how long at most other work of the process waited.
const { url, environment } = JSON.parse(process.argv[2] ?? '{}')
const { config, secrets } = readConfig(environment)
const store = openStore({ url, max: 4, applicationName: 'test sync memory' })
const quiet = { info() {}, warn() {}, error() {}, debug() {} }
const clock = () => new Date()
const work = { store, log: quiet, clock, owner: 'memory', lockSeconds: 60, ...syncSettings(config, secrets) }
const delay = monitorEventLoopDelay({ resolution: 5 })
const { id } = await createSyncRun(store.db, {
  kind: 'full',
  trigger: 'manual',
  upstream: config.upstream.url,
  at: clock(),
})
delay.enable()
const run = await syncInline(work, id, { signal: new AbortController().signal })
await store.close()
// `maxRSS` begins with what the parent had.
const [, peak] = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
const maxRssMb = Math.round(Number(peak) / 1024)
const maxDelayMs = Math.round(delay.max / 1e6)
process.stdout.write(JSON.stringify({ ...run, maxRssMb, maxDelayMs }))
