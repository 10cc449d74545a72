import { iatiEnvelope } from '../../iati/mapping/envelope.js'
import type { IsoInstant } from '../../kernel/dates.js'
import type { FileEnvelope } from '../bytes/file-writer.js'

/** The envelope of an IATI file; its stamp is the time at which the file was generated. */
export function stampedEnvelope(root: 'iati-activities' | 'iati-organisations', generated: IsoInstant): FileEnvelope {
  return { ...iatiEnvelope(root, generated), stamp: ` generated-datetime="${generated}"` }
}
