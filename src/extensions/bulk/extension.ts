import type { Extension } from '../../cli/extension.js'

/** All records of the API in files, and the operations that link to them (wire.md 4.4). */
export const bulk = {
  name: 'bulk',
  beside: {
    name: 'bulk',
    build: async (...release) => await (await import('./bulk-files.js')).buildBulkFiles(...release),
    withdraw: async (deps) => await (await import('./bulk-files.js')).withdrawBulkSet(deps),
  },
  addRoutes: async (...api) => (await import('./bulk-routes.js')).bulkRoutes(...api),
} as const satisfies Extension
