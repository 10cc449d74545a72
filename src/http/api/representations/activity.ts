import type { Format } from '../../../catalogue/wire/write/wire-value.js'
import { iatiEnvelope } from '../../../iati/mapping/envelope.js'
import type { IsoInstant } from '../../../kernel/dates.js'
import type { Element } from '../../../kernel/xml/element.js'
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

type ElementJson = { readonly [name: string]: string | readonly ElementJson[] }

/**
 * An element without loss: attributes as `@name`, character data as `#text`, children as lists under their names. In IATI
 * 2.03 children of one name follow each other, so their order is kept too.
 */
function elementJson({ attributes, children, text }: Element): ElementJson {
  const json: Record<string, string | ElementJson[]> = {}
  for (const [name, value] of Object.entries(attributes)) json[`@${name}`] = value
  if (text !== '') json['#text'] = text
  for (const child of children) {
    const same = json[child.name]
    if (Array.isArray(same)) same.push(elementJson(child))
    else json[child.name] = [elementJson(child)]
  }
  return json
}
