import { hostname } from 'node:os'
import type { Work } from '../../../jobs/work-row.js'
import type { Extension } from '../../cli/extension.js'

/**
 * Reads the sources that are due, every minute. A source is claimed in its row, so a tick that comes twice reads
 * nothing twice, and one that is missed is made up for. It takes one place of its queue at most, however long files take.
 */
const work: Work = {
  name: 'sources',
  fields: ['currency', 'reportingOrg', 'allowPrivateNetworks', 'dataDir', 'publish', 'donors'],
  queues: { settlement: 6 },
  schedules: () => ({ sources: { expression: '* * * * *', timezone: 'UTC' } }),
  open: ({ store, clock, config, owner, log }) => {
    let isReading = false
    return {
      tick: async ({ signal }) => {
        if (isReading) return 'sources are being read'
        isReading = true
        try {
          const { runDueSources } = await import('./run-source.js')
          const { openSourceKeys } = await import('./source-keys.js')
          const results = await runDueSources({
            ...{ store, clock, signal, config },
            keys: await openSourceKeys(config),
            operator: { actor: 'sources', origin: hostname() },
            owner: `${owner} sources`,
          })
          for (const { name, outcome, message } of results) {
            const isWrong = outcome === 'failed' || outcome === 'held'
            log[isWrong ? 'warn' : 'info']({ source: name, outcome }, message)
          }
          return `${results.length} sources read`
        } finally {
          isReading = false
        }
      },
    }
  },
}

/** Files that are fetched on a schedule and imported. */
export const sources = {
  name: 'sources',
  work,
  commands: [['sources'], async () => (await import('./commands.js')).registerSources],
  state: {
    about: 'sources',
    fields: [],
    look: async ({ db }) => await (await import('./source-needs.js')).lookAtSources(db),
  },
  inspection: {
    about: 'sources',
    inspect: async (commandLine) => await (await import('./inspection.js')).inspectSources(commandLine),
  },
  rekey: async (runtime) => await (await import('./change-sources.js')).rekeySources(runtime),
} as const satisfies Extension
