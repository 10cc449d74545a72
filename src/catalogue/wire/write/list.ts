import type { ListNames } from '../names.js'
import { type Format, xmlDeclaration } from './wire-value.js'

/** A document as texts to be sent one after the other, so that a long text is copied only once, into the sent bytes. */
export type Pieces = readonly string[]

/** A page of a list, whose records are ready texts. */
export type ListPage = {
  /** Joined by `joinRecords`. */
  readonly records: string
  /** The number of records of the whole list; lists of organisations do not have it. */
  readonly numberFound?: number
  /** First id of the next page; absent on the last one. */
  readonly next?: number | undefined
}

/** Records one after another: in JSON the items of an array. */
export function joinRecords(format: Format, records: readonly string[]): string {
  return records.join(format === 'json' ? ',' : '')
}

/**
 * The list envelope (wire.md 4.3); `hasNext` and the cursor are there together or not at all. In JSON an empty list has its
 * empty array, which clients read without looking.
 */
export function listDocument(format: Format, names: ListNames, page: ListPage): Pieces {
  return format === 'xml' ? listXml(names, page) : listJson(names, page)
}

function listXml({ list, cursor }: ListNames, { records, numberFound, next }: ListPage): Pieces {
  const found = numberFound === undefined ? '' : ` numberFound="${numberFound}"`
  const more = next === undefined ? '' : `<hasNext>true</hasNext><${cursor}>${next}</${cursor}>`
  return [`${xmlDeclaration}<${list}${found}>${more}`, records, `</${list}>`]
}

function listJson({ list, record, cursor }: ListNames, { records, numberFound, next }: ListPage): Pieces {
  const before = next === undefined ? [] : [`"hasNext":true,"${cursor}":${next}`]
  const after = numberFound === undefined ? [] : [`"numberFound":${numberFound}`]
  const start = [...before, `"${record}":[`].join(',')
  const end = ['', ...after].join(',')
  return [`{"${list}":{${start}`, records, `]${end}}}`]
}

/** One record's document, from its ready text. */
export function recordDocument(format: Format, root: string, text: string): Pieces {
  return format === 'xml' ? [xmlDeclaration, text] : [`{"${root}":`, text, '}']
}
