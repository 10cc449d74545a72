import pino from 'pino'
import { ofExtensions } from '../../../src/extensions.js'
import { openStore } from '../../../src/platform/database/store.js'
import { createPublication } from '../../../src/release/create-publication.js'
import { publishInline } from '../../../src/release/run.js'
import { createOwner } from '../../../src/work/attempt.js'
import { mappingConfig } from '../values/builders.js'

// Publishes once, at a fixed time: DATABASE FEEDS_DIR.
const [url = '', feedsDir = ''] = process.argv.slice(2)
await using store = openStore({ url, max: 6, applicationName: 'build process' })
const clock = () => new Date('2026-11-21T02:00:00Z')
const publication = createPublication({
  ...{ store, feedsDir, mappingConfig, clock },
  ...{ keepReleases: 3, maxLossPercent: 5, addFiles: ofExtensions('addFiles'), beside: ofExtensions('beside') },
})
const deps = { store, publication, clock, log: pino({ level: 'silent' }), owner: createOwner(), lockSeconds: 30 }
const run = await publishInline(deps, { trigger: 'manual', force: false, signal: new AbortController().signal })
if (run.state !== 'published') throw new Error(`the run is ${run.state}: ${run.error?.message}`)
