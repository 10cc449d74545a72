import type { Extension } from '../../cli/extension.js'
import { importFields } from '../../cli/wiring/import-options.js'

/** The pages for operators. */
export const console = {
  name: 'console',
  server: {
    about: 'console',
    fields: [...importFields, 'ops'],
    serve: async (deps) => await (await import('./serve-console.js')).serveConsole(deps),
  },
} as const satisfies Extension
