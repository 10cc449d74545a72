import type { IsoInstant } from '../../../domain/dates.js'
import { iatiEnvelope } from '../../../feeds/iati/envelope.js'
import type { FileEnvelope } from '../../files/file-writer.js'

/** The envelope of an IATI file; its stamp is the time at which the file was generated. */
export function stampedEnvelope(root: 'iati-activities' | 'iati-organisations', generated: IsoInstant): FileEnvelope {
  return { ...iatiEnvelope(root, generated), stamp: ` generated-datetime="${generated}"` }
}
