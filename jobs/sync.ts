import { enterFirstSync, scheduledSyncs, syncFields, syncOnce, syncSettings } from '../src/catalogue/sync/run.js'
import { startAttempt } from './run-jobs.js'
import type { Work } from './work-row.js'

/** Mirrors the catalogue of UPSTREAM_URL; without it only the schedulers of an earlier configuration are removed. */
export const sync: Work = {
  name: 'sync',
  fields: syncFields,
  // Ticks must not wait behind a sync that takes hours; the ledger lets one sync be worked on at a time.
  queues: { sync: 4 },
  schedules: ({ upstream }) =>
    upstream
      ? {
          sync: { expression: upstream.schedule, timezone: 'UTC' },
          'full-sync': { expression: upstream.fullSchedule, timezone: 'UTC' },
        }
      : ({} as Record<string, never>),
  open: (deps) => {
    const settings = syncSettings(deps.config)
    if (!settings) return undefined
    const syncDeps = { ...deps, ...settings }
    return {
      begin: () => enterFirstSync(deps, settings.upstream),
      scheduled: scheduledSyncs(deps, settings.upstream),
      jobs: {
        sync: (call) =>
          startAttempt(deps, call, 'sync', (lease, run) =>
            syncOnce(syncDeps, lease, run, { signal: call.signal, onProgress: call.report }),
          ),
      },
    }
  },
}
