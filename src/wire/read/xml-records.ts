import { ServiceError } from '../../domain/errors.js'
import { type Element, element } from '../../xml/element.js'
import { streamElements, type XmlLimits } from '../../xml/reader.js'
import { recordLimits } from './json-records.js'

const limits: XmlLimits = {
  depth: recordLimits.depth,
  elements: 100_000,
  attributes: 100,
  characters: recordLimits.characters,
}

/** What the records of a document are called, and the list around them. */
export type RecordNames = { readonly list: string; readonly record: string }

const projectNames: RecordNames = { list: 'projects', record: 'project' }

/**
 * Cuts the records out of an XML document of any size: the `project` children of a `projects` root, or a `project`
 * root (or those of other `names`). Memory is bounded by the largest record. Throws `input-unusable` for another root, and the errors of
 * the XML reader, which end the document: what follows a damaged place cannot be told apart any more.
 */
export async function* cutXmlRecords(
  chunks: AsyncIterable<Buffer>,
  names: RecordNames = projectNames,
): AsyncGenerator<Element> {
  let single: { readonly line: number; readonly children: Element[] } | undefined
  let bytes = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (single && bytes > limits.characters) {
        throw new ServiceError(
          'input-unusable',
          `a single ${names.record} must be smaller than ${limits.characters} bytes`,
        )
      }
      yield chunk
    }
  }
  const onRoot = (name: string, _attributes: unknown, line: number) => {
    if (name === names.record) single = { line, children: [] }
    else if (name !== names.list) {
      throw new ServiceError(
        'input-unusable',
        `expected the root element ${names.list} or ${names.record}, got ${name}`,
      )
    }
  }
  for await (const found of streamElements(counted(), { depth: 1, limits, onRoot })) {
    if (single) single.children.push(found)
    else if (found.name === names.record) yield found
  }
  if (single) yield { ...element(names.record, undefined, single.children), line: single.line }
}
