import type { Format } from '../../../catalogue/wire/write/wire-value.js'
import { iatiEnvelope } from '../../../iati/mapping/envelope.js'
import type { IsoInstant } from '../../../kernel/dates.js'
import { elementJson } from '../../../kernel/xml/element-json.js'
import { parseElement, recordLimits } from '../../../kernel/xml/reader.js'

/** One published activity as a document of its own (iati.md 14.4). */
export function activityDocument(format: Format, record: Buffer, changed: IsoInstant): string {
  // Not the time of the request: the same record gives the same bytes.
  const { head, tail } = iatiEnvelope('iati-activities', changed)
  const xml = `${head}${record.toString('utf8')}\n${tail}`
  if (format === 'xml') return xml
  const root = parseElement(xml, recordLimits)
  return `${JSON.stringify({ [root.name]: elementJson(root) })}\n`
}
