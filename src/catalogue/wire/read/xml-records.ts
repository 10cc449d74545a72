import { ServiceError } from '../../../kernel/errors.js'
import { type Element, element } from '../../../kernel/xml/element.js'
import { streamElements } from '../../../kernel/xml/reader.js'
import { type ListNames, projectList } from '../names.js'
import { fromElement, type ParsedValue, valueLimits } from './parsed-value.js'

const limits = { ...valueLimits, attributes: 100 }

/**
 * The records of an XML document of any size: the `project` children of a `projects` root, or a `project` root (or those
 * of other `names`). Memory is bounded by the largest record. Throws `input-unusable` for another root, and the errors of
 * the XML reader, since the records behind a damaged place cannot be found reliably.
 */
export async function* xmlRecords(
  chunks: AsyncIterable<Buffer>,
  names: ListNames = projectList,
): AsyncGenerator<{ readonly line: number; readonly value: ParsedValue }> {
  let single: { readonly line: number; readonly children: Element[] } | undefined
  let bytes = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (single && bytes > limits.characters) {
        throw unusable(`a single ${names.record} must be smaller than ${limits.characters} bytes`)
      }
      yield chunk
    }
  }
  const onRoot = (name: string, _attributes: unknown, line: number) => {
    if (name === names.record) single = { line, children: [] }
    else if (name !== names.list) {
      throw unusable(`expected the root element ${names.list} or ${names.record}, got ${name}`)
    }
  }
  for await (const found of streamElements(counted(), { depth: 1, limits, onRoot })) {
    if (single) single.children.push(found)
    else if (found.name === names.record) yield { line: found.line ?? 1, value: fromElement(found) }
  }
  if (single) yield { line: single.line, value: fromElement(element(names.record, undefined, single.children)) }
}

function unusable(message: string): ServiceError {
  return new ServiceError('input-unusable', message)
}
