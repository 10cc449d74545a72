import type { Work } from './work-row.js'

/**
 * Registers new segments at the IATI registry with REGISTRY_SYNC, every five minutes; it asks the registry only when
 * the live release has something new. It is no step of the publication, so that no publication can fail by it.
 */
export const registry: Work<'registry'> = {
  name: 'registry',
  fields: ['registry'],
  queues: { settlement: 4 },
  schedules: (config): ReturnType<Work['schedules']> =>
    config.registry?.sync ? { registry: { expression: '*/5 * * * *', timezone: 'UTC' } } : {},
  open: ({ registerNew }) => registerNew && { tick: ({ signal }) => registerNew(signal) },
}
