import type { Work } from '../../../jobs/work-row.js'
import type { Extension } from '../../cli/extension.js'

/**
 * Delivers the live release to the bucket, when a worker starts and every minute, so that nothing that makes a release
 * live waits for the bucket. A tick that comes twice or not at all does no harm.
 */
const work: Work = {
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

/** The bucket of `FEEDS_S3_BUCKET` has what is live, or what all machines publish. */
export const bucket = {
  name: 'bucket',
  work,
  openDelivery: async (...process) => (await import('./delivery.js')).bucketDelivery(...process),
  inspection: {
    about: 'bucket',
    inspect: async (commandLine) => await (await import('./inspection.js')).inspectBucket(commandLine),
  },
} as const satisfies Extension
