import type { DescribedOperation, Description } from './api-description.js'
import { operationsOf } from './api-description.js'

type Json = Readonly<Record<string, unknown>>
type Report = (change: string) => void

/**
 * What in the newer description would break a client of the older one (wire.md 11.2): something is gone, has another type, or
 * must be there now. Additions are compatible.
 */
export function incompatibleChanges(before: Description, after: Description): string[] {
  const changes: string[] = []
  const then = new Resolver(before)
  const now = new Resolver(after)
  const later = new Map(operationsOf(after).map((one) => [`${one.method} ${one.path}`, one.operation]))
  for (const { method, path, operation } of operationsOf(before)) {
    const name = `${method} ${path}`
    const same = later.get(name)
    if (!same) changes.push(`${name} is gone`)
    else compareOperation(operation, same, (change) => changes.push(`${name}: ${change}`))
  }
  return changes

  function compareOperation(old: DescribedOperation, next: DescribedOperation, report: Report): void {
    // The first way to send key and token; the others are alternatives.
    const oldNames = Object.keys(old.security[0] ?? {})
    for (const name of Object.keys(next.security[0] ?? {})) {
      if (!oldNames.includes(name)) report(`${name} is required now`)
    }
    if (old.operationId !== next.operationId) report(`operationId was ${old.operationId}, is ${next.operationId}`)
    compareParameters(old, next, report)
    compareContent(old.requestBody ?? {}, next.requestBody ?? {}, 'request', report)
    for (const [status, response] of Object.entries(old.responses)) {
      const other = next.responses[status]
      if (!other) {
        report(`status ${status} is gone`)
        continue
      }
      const [oldResponse, newResponse] = [then.resolve(response), now.resolve(other)]
      const [oldHeaders, newHeaders] = [oldResponse, newResponse].map((one) => (one.headers ?? {}) as Json)
      for (const header of Object.keys(oldHeaders ?? {})) {
        if (newHeaders?.[header] === undefined) report(`${status}: header ${header} is gone`)
      }
      compareContent(oldResponse, newResponse, 'answer', (change) => report(`${status}: ${change}`))
    }
  }

  function compareParameters(old: DescribedOperation, next: DescribedOperation, report: Report): void {
    const parametersOf = ({ parameters = [] }: DescribedOperation, resolver: Resolver) =>
      new Map(parameters.map((one) => resolver.resolve(one)).map((one) => [String(one.name), one]))
    const [oldOnes, newOnes] = [parametersOf(old, then), parametersOf(next, now)]
    for (const [name, parameter] of oldOnes) {
      const same = newOnes.get(name)
      if (!same) report(`parameter ${name} is gone`)
      else
        compare(parameter.schema as Json, same.schema as Json, 'request', (what) => report(`parameter ${name}${what}`))
    }
    for (const [name, { required }] of newOnes) {
      if (required === true && oldOnes.get(name)?.required !== true) report(`parameter ${name} is required now`)
    }
  }

  function compareContent(old: Json, next: Json, side: Side, report: Report): void {
    const [oldTypes, newTypes] = [old, next].map((one) => (one.content ?? {}) as Readonly<Record<string, Json>>)
    for (const [type, { schema }] of Object.entries(oldTypes ?? {})) {
      const same = newTypes?.[type]
      if (!same) report(`${side} in ${type} is gone`)
      else compare(schema as Json, same.schema as Json, side, (what) => report(`${side} in ${type}${what}`))
    }
  }

  /** `where` of a change is a path of fields, such as `.projects.project[].id`. */
  function compare(oldSchema: Json, newSchema: Json, side: Side, report: Report, depth = 0): void {
    const [old, next] = [then.resolve(oldSchema), now.resolve(newSchema)]
    // Deep enough for every document; a schema that refers to itself ends here.
    if (depth > 20) return
    const [oldTypes, newTypes] = [typesOf(old), typesOf(next)]
    const accepts = (wide: readonly string[], narrow: readonly string[]) => narrow.every((type) => wide.includes(type))
    // A request may accept more than before, an answer may promise more.
    const typesFit = side === 'request' ? accepts(newTypes, oldTypes) : accepts(oldTypes, newTypes)
    if (!typesFit) report(`: the type was ${oldTypes.join(' or ')}, is ${newTypes.join(' or ')}`)
    if (side === 'request' && Array.isArray(next.enum)) {
      const gone = Array.isArray(old.enum)
        ? old.enum.filter((value) => !(next.enum as unknown[]).includes(value))
        : ['others']
      if (gone.length > 0) report(`: no longer accepts ${gone.join(', ')}`)
    }
    for (const limit of ['maxLength', 'maximum', 'maxItems'] as const) {
      const [was, is] = [old[limit], next[limit]].map((value) => (value === undefined ? Infinity : Number(value)))
      if (side === 'request' && Number(is) < Number(was)) report(`: ${limit} was ${was}, is ${is}`)
    }
    const [oldFields, newFields] = [old, next].map((one) => (one.properties ?? {}) as Readonly<Record<string, Json>>)
    for (const [name, schema] of Object.entries(oldFields ?? {})) {
      const same = newFields?.[name]
      if (!same) report(`.${name} is gone`)
      else compare(schema, same, side, (what) => report(`.${name}${what}`), depth + 1)
    }
    const [oldRequired, newRequired] = [old, next].map((one) => (one.required ?? []) as readonly string[])
    const [must, may] = side === 'request' ? [newRequired, oldRequired] : [oldRequired, newRequired]
    for (const name of must ?? []) {
      const exists = side === 'request' || newFields?.[name] !== undefined
      if (exists && !may?.includes(name))
        report(`.${name} ${side === 'request' ? 'is required now' : 'may be absent now'}`)
    }
    if (old.items && next.items) {
      compare(old.items as Json, next.items as Json, side, (what) => report(`[]${what}`), depth + 1)
    }
    if (JSON.stringify(old.xml) !== JSON.stringify(next.xml)) report(': its form in XML is another')
  }
}

type Side = 'request' | 'answer'

function typesOf(schema: Json): readonly string[] {
  const types = schema.type === undefined ? ['anything'] : [schema.type].flat().map(String)
  // Whoever reads a number reads a whole number.
  return types.includes('number') ? [...types, 'integer'] : types
}

class Resolver {
  readonly #description: Description

  constructor(description: Description) {
    this.#description = description
  }

  resolve(value: Json): Json {
    if (typeof value.$ref !== 'string') return value
    const [, , kind = '', name = ''] = value.$ref.split('/')
    const found = this.#description.components[kind]?.[name]
    if (!found) throw new TypeError(`${value.$ref} leads nowhere`)
    return found
  }
}
