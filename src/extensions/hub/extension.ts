import type { Work } from '../../../jobs/work-row.js'
import type { Extension } from '../../cli/extension.js'

/**
 * Tells the WebSub hub which feeds the live release changed, when a worker starts and every minute. A tick that comes
 * twice or not at all does no harm.
 */
const work: Work = {
  name: 'hub',
  fields: ['websubHub'],
  queues: { settlement: 4 },
  schedules: ({ websubHub }) => (websubHub ? { hub: { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: ({ config: { websubHub: hub }, telling, store, queue, clock, log }) => {
    if (hub === undefined || !telling) return undefined
    return {
      begin: () => queue.add({ queue: 'settlement', name: 'tick', data: { schedule: 'hub' } }),
      tick: async ({ signal }) => {
        try {
          const refusal = await telling.refusal()
          if (refusal !== undefined) return refusal
          const { tellHub } = await import('./tell-hub.js')
          const { feedsDir } = telling
          return await tellHub({ store, feedsDir, clock, hub, baseUrl: await telling.baseUrl() }, signal)
        } catch (err) {
          log.warn({ err }, 'cannot notify the hub of WEBSUB_HUB; trying again in a minute')
          return 'not told'
        }
      },
    }
  },
}

/** The WebSub hub of `WEBSUB_HUB` is told what changed. */
export const hub = { name: 'hub', work } as const satisfies Extension
