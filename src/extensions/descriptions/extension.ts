import type { Extension } from '../../cli/extension.js'

/** What is published is described for programs: a data package, a catalogue (DCAT) and `llms.txt`. */
export const descriptions = {
  name: 'descriptions',
  addFiles: async (...release) => (await import('./describing-files.js')).describingFiles(...release),
} as const satisfies Extension
