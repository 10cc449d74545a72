import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import pino from 'pino'
import { createSyncRun } from '../../../src/catalogue/sql/sync-runs.js'
import { syncInline, syncSettings } from '../../../src/catalogue/sync/run.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { openStore } from '../../../src/platform/database/store.js'

// A full sync in a process of its own; prints how it ended, how much memory it took, and for
// how long at most other work of the process waited.
const { url, environment } = JSON.parse(process.argv[2] ?? '{}')
const config = readConfig(environment)
const settings = syncSettings(config)
if (!settings) throw new Error('no upstream is configured')
const store = openStore({ url, max: 4, applicationName: 'test sync memory' })
const clock = () => new Date()
const work = { store, log: pino({ level: 'silent' }), clock, owner: 'memory', lockSeconds: 60, ...settings }
const delay = monitorEventLoopDelay({ resolution: 5 })
const { id } = await createSyncRun(store.db, {
  kind: 'full',
  trigger: 'manual',
  upstream: settings.upstream.url,
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
