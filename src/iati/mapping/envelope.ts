import { create } from 'xmlbuilder2'
import type { IsoInstant } from '../../kernel/dates.js'

/** The text before and after the records of a file. */
export type Envelope = { readonly head: string; readonly tail: string }

const marker = 'records'

/**
 * Head and tail of an IATI 2.03 file (iati.md 1.1): declaration on its own line, then the root with `version` and
 * `generated-datetime`. Records go between them, each on a line of its own.
 */
export function iatiEnvelope(root: 'iati-activities' | 'iati-organisations', generated: IsoInstant): Envelope {
  const document = create({ version: '1.0', encoding: 'UTF-8' })
  document.ele(root, { version: '2.03', 'generated-datetime': generated }).ele(marker)
  return split(document.end({ headless: false }))
}

/** Splits a document at its marker element and puts the declaration on a line of its own. */
function split(document: string): Envelope {
  const [head = '', tail = ''] = document.replace('?><', '?>\n<').split(`<${marker}/>`)
  return { head: `${head}\n`, tail: `${tail}\n` }
}
