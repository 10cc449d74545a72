import type { Work } from '../../../jobs/work-row.js'
import type { Extension } from '../../cli/extension.js'

/**
 * Registers new segments at the IATI registry with REGISTRY_SYNC, every five minutes; it asks the registry only when
 * the live release has something new. It is no step of the publication, so that no publication can fail by it.
 */
const work: Work = {
  name: 'registry',
  fields: ['registry'],
  queues: { settlement: 4 },
  schedules: (config): ReturnType<Work['schedules']> =>
    config.registry?.sync ? { registry: { expression: '*/5 * * * *', timezone: 'UTC' } } : {},
  open: ({ config, store: { db }, clock, telling }) =>
    telling && {
      tick: async ({ signal }) => {
        const { registerLive } = await import('./using-registry.js')
        const { feedsDir } = telling
        return (await telling.refusal()) ?? (await registerLive({ config, db, clock, feedsDir }, signal))
      },
    },
}

/** The datasets of this publisher are registered at the IATI registry. */
export const registry = {
  name: 'registry',
  work,
  state: {
    about: 'registry',
    fields: ['registry'],
    look: async (deps) => await (await import('./registry-state.js')).lookAtState(deps),
  },
  commands: [['registry'], async () => (await import('./commands.js')).registerRegistry],
  inspection: {
    about: 'registry',
    inspect: async (commandLine) => await (await import('./inspection.js')).inspectRegistry(commandLine),
  },
  gauge: {
    name: 'giving_registry_datasets',
    help: 'Datasets when the IATI registry was last asked, by state',
    label: 'state',
    read: async (db) => await (await import('./registry-state.js')).datasetsByState(db),
  },
} as const satisfies Extension
