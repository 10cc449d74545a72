import type { Work } from './work-row.js'

/**
 * Tells the WebSub hub which feeds the live release changed, when a worker starts and every minute. A tick that comes
 * twice or not at all does no harm.
 */
export const hub: Work<'websubHub'> = {
  name: 'hub',
  fields: ['websubHub'],
  queues: { settlement: 4 },
  schedules: ({ websubHub }) => (websubHub ? { hub: { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: ({ tellHub, queue, log }) =>
    tellHub && {
      begin: () => queue.add({ queue: 'settlement', name: 'tick', data: { schedule: 'hub' } }),
      tick: async ({ signal }) => {
        try {
          return await tellHub(signal)
        } catch (err) {
          log.warn({ err }, 'cannot notify the hub of WEBSUB_HUB; trying again in a minute')
          return 'not told'
        }
      },
    },
}
