import type { Work } from './work-row.js'

/**
 * Delivers the live release to the bucket, when a worker starts and every minute, so that nothing that makes a release
 * live waits for the bucket. A tick that comes twice or not at all does no harm.
 */
export const bucket: Work = {
  name: 'bucket',
  fields: ['bucket'],
  // One more than the other work of the queue: a delivery may take minutes.
  queues: { settlement: 5 },
  schedules: (config) => (config.bucket ? { bucket: { expression: '* * * * *', timezone: 'UTC' } } : {}),
  open: ({ deliver, telling, queue }) =>
    deliver &&
    telling && {
      begin: () => queue.add({ queue: 'settlement', name: 'tick', data: { schedule: 'bucket' } }),
      tick: async ({ signal }) => (await telling.refusal()) ?? (await deliver(signal)),
    },
}
