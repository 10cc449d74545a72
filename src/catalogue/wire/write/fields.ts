import type { AnyFieldTable } from '../../../kernel/field-table.js'
import { enclose } from '../../../kernel/xml/writer.js'
import { wireNameOf } from '../names.js'
import {
  boolean,
  byName,
  dateTime,
  integer,
  money,
  string,
  toMember,
  toXml,
  type WireText,
  type WireValue,
  webAddress,
} from './wire-value.js'

/** A field of a record: its name, and its value for a noun; undefined where that is absent. */
export type WireField<Noun> = { readonly name: string; readonly valueIn: (noun: Noun) => WireValue | undefined }

const kinds: Readonly<Record<string, (value: never) => WireValue>> = {
  text: string,
  textOrEmpty: string,
  status: string,
  integer,
  bigint: integer,
  boolean,
  decimal: money,
  instant: dateTime,
}

const addresses: ReadonlySet<string> = new Set([
  ...['contactUrl', 'projectLink', 'progressReportLink', 'additionalDocumentation', 'url', 'logoUrl'],
])

/**
 * The fields of a record in the order of `names` (see `projectNames`). A value comes from `derived`, or from the noun's field
 * of that name in the table.
 */
export function wireFields<Noun>(
  names: readonly string[],
  table: AnyFieldTable,
  fieldsOf: (noun: Noun) => object,
  derived: Readonly<Record<string, WireField<Noun>['valueIn']>>,
): WireField<Noun>[] {
  const rows = new Map(table.map((row) => [wireNameOf(row[0]), row]))
  return names.map((entry) => {
    const name = entry.replace('?', '')
    const ownValue = derived[name]
    if (ownValue) return { name, valueIn: ownValue }
    const [field, kind] = rows.get(name) ?? ['', '']
    const write = addresses.has(field) ? webAddress : kinds[kind.replace('?', '')]
    if (!write) throw new TypeError(`no field is written as ${name}`)
    const absent = entry === name ? string('') : undefined
    const valueIn = (noun: Noun) => {
      const value = (fieldsOf(noun) as Readonly<Record<string, unknown>>)[field]
      return value === undefined ? absent : write(value as never)
    }
    return { name, valueIn }
  })
}

/** One field in both formats, ready to be joined to others. */
export type FieldText = WireText & { readonly name: string }

/** The fields that are present, in both formats. */
export function fieldTexts<Noun>(fields: readonly WireField<Noun>[], noun: Noun): FieldText[] {
  const texts: FieldText[] = []
  for (const { name, valueIn } of fields) {
    const value = valueIn(noun)
    if (value) texts.push({ name, xml: toXml(name, value), json: toMember(name, value) })
  }
  return texts
}

/** A record of these fields, XML in ASCII order of their names. */
export function joinFields(name: string, fields: readonly FieldText[]): WireText {
  let members = ''
  for (const { json } of fields) if (json !== '') members += members === '' ? json : `,${json}`
  let content = ''
  for (const { xml } of fields.toSorted(byName)) content += xml
  return { xml: enclose(name, content), json: `{${members}}` }
}
