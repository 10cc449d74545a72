import { hostname } from 'node:os'
import { runDueSources } from '../src/catalogue/sources/run-source.js'
import { openSourceKeys } from '../src/catalogue/sources/source-keys.js'
import type { Work } from './work-row.js'

/**
 * Reads the sources that are due, every minute. A source is claimed in its row, so a tick that comes twice reads
 * nothing twice, and one that is missed is made up for. It takes one place of its queue at most, however long files take.
 */
export const sources: Work = {
  name: 'sources',
  fields: ['currency', 'reportingOrg', 'allowPrivateNetworks', 'dataDir', 'publish', 'donors'],
  queues: { settlement: 6 },
  schedules: () => ({ sources: { expression: '* * * * *', timezone: 'UTC' } }),
  open: ({ store, clock, config, owner, log }) => {
    const read = async (signal: AbortSignal) => {
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
    }
    let isReading = false
    return {
      tick: async ({ signal }) => {
        if (isReading) return 'sources are being read'
        isReading = true
        try {
          return await read(signal)
        } finally {
          isReading = false
        }
      },
    }
  },
}
