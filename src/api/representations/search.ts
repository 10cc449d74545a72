import {
  boolean,
  type Format,
  integer,
  record,
  string,
  wireDocument,
  wireText,
  wrapper,
} from '../../wire/write/wire.js'

/** What was searched for and found; records are ready texts in the wanted format. */
export type SearchResult = {
  readonly filters: readonly { readonly name: string; readonly value: string }[]
  readonly q: string
  readonly start: number
  readonly summary: boolean
  readonly records: readonly string[]
  readonly numberFound: number
}

/** The search envelope (wire.md 5.2): without hits there is no `projects` at all, four clients test for that. */
export function searchDocument(format: Format, result: SearchResult): string {
  const { filters, q, start, summary, records, numberFound } = result
  const filterRecords = filters.map(({ name, value }) =>
    record([
      ['name', string(name)],
      ['value', string(value)],
    ]),
  )
  const request = wireText(
    'request',
    record([
      ['filters', filters.length === 0 ? undefined : wrapper('filter', filterRecords)],
      ['q', string(q)],
      ['start', integer(start)],
      ['summary', boolean(summary)],
    ]),
  )
  const found = records.length > 0
  const xml = found ? `<projects>${records.join('')}</projects>` : ''
  const json = found ? `"projects":{"project":[${records.join(',')}]},` : ''
  return wireDocument(format, 'search', {
    xml: `<search>${request.xml}<response start="${start}" numberFound="${numberFound}">${xml}</response></search>`,
    json: `{"request":${request.json},"response":{${json}"start":${start},"numberFound":${numberFound}}}`,
  })
}
