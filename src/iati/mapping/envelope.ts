import type { IsoInstant } from '../../kernel/dates.js'

/** The text before and after the records of a file. */
export type Envelope = { readonly head: string; readonly tail: string }

/**
 * Head and tail of an IATI 2.03 file (iati.md 1.1): declaration on its own line, then the root with `version` and
 * `generated-datetime`. Records go between them, each on a line of its own.
 */
export function iatiEnvelope(root: 'iati-activities' | 'iati-organisations', generated: IsoInstant): Envelope {
  const attributes = `version="2.03" generated-datetime="${generated}"`
  return { head: `<?xml version="1.0" encoding="UTF-8"?>\n<${root} ${attributes}>\n`, tail: `</${root}>\n` }
}
