import type { Element } from './element.js'

type ElementJson = { readonly [name: string]: string | readonly ElementJson[] }

/**
 * An element without loss: attributes as `@name`, character data as `#text`, children as lists under their names. In IATI
 * 2.03 children of one name follow each other, so their order is kept too.
 */
export function elementJson({ attributes, children, text }: Element): ElementJson {
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
