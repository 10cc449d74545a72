import { syncInline } from '../../../src/catalogue/sync/run.js'
import { openStore } from '../../../src/platform/database/store.js'
import { syncWork } from '../../support/catalogue/sync.js'

// A sync in a process of its own, to be killed: options are the database, the upstream and the run.
const { url, upstream, runId, lockSeconds }: { url: string; upstream: string; runId: number; lockSeconds: number } =
  JSON.parse(process.argv[2] ?? '{}')
const store = openStore({ url, max: 4, applicationName: 'test sync process' })
process.once('disconnect', () => process.exit(1))
const work = { ...syncWork(store, upstream), owner: `process ${process.pid}`, lockSeconds }
const run = await syncInline(work, runId, { signal: new AbortController().signal })
process.send?.(run.state)
await store.close()
process.disconnect()
