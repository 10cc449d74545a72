import type { Pieces } from '../../../catalogue/wire/write/list.js'
import {
  boolean,
  type Format,
  integer,
  object,
  string,
  toJson,
  toXml,
  wrapper,
  xmlDeclaration,
} from '../../../catalogue/wire/write/wire-value.js'

/** A search and its hits. */
export type SearchResult = {
  readonly filters: readonly { readonly name: string; readonly value: string }[]
  readonly q: string
  readonly start: number
  readonly summary: boolean
  /** Joined by `joinRecords`. */
  readonly records: string
  readonly numberFound: number
}

/** The search envelope (wire.md 5.2). Clients test for `projects`, which is left out when there are no hits. */
export function searchDocument(format: Format, result: SearchResult): Pieces {
  const { filters, q, start, summary, records, numberFound } = result
  const filterObjects = filters.map(({ name, value }) =>
    object([
      ['name', string(name)],
      ['value', string(value)],
    ]),
  )
  const request = object([
    ['filters', filters.length === 0 ? undefined : wrapper('filter', filterObjects)],
    ['q', string(q)],
    ['start', integer(start)],
    ['summary', boolean(summary)],
  ])
  if (format === 'json') {
    const projects = records === '' ? '' : `"projects":{"project":[${records}]},`
    const response = `{${projects}"start":${start},"numberFound":${numberFound}}`
    return [`{"search":{"request":${toJson(request)},"response":${response}}}`]
  }
  const projects = records === '' ? '' : `<projects>${records}</projects>`
  const response = `<response start="${start}" numberFound="${numberFound}">${projects}</response>`
  return [`${xmlDeclaration}<search>${toXml('request', request)}${response}</search>`]
}
