import { readConfig } from '../../../dist/src/config/config.js'
import { syncInline, syncSettings } from '../../../dist/src/runs/sync.js'
import { createSyncRun } from '../../../dist/src/store/runs/sync-runs.js'
import { openStore } from '../../../dist/src/store/store.js'

// A full sync as the built program does it, in a process of its own; says how it ended and how much memory it took.
const { url, environment } = JSON.parse(process.argv[2] ?? '{}')
const { config, secrets } = readConfig(environment)
const store = openStore({ url, max: 4, applicationName: 'test sync memory' })
const quiet = { info() {}, warn() {}, error() {}, debug() {} }
const clock = () => new Date()
const work = { store, log: quiet, clock, owner: 'memory', lockSeconds: 60, ...syncSettings(config, secrets) }
const { id } = await createSyncRun(store.db, {
  kind: 'full',
  trigger: 'manual',
  upstream: config.upstream.url,
  at: clock(),
})
const run = await syncInline(work, id, { signal: new AbortController().signal })
await store.close()
process.stdout.write(JSON.stringify({ ...run, maxRssMb: Math.round(process.resourceUsage().maxRSS / 1024) }))
