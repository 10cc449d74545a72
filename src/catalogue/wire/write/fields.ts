import { isOptionalOnWire, kindOf, type Noun, wireFieldsOf, wireNameOf } from '../../../kernel/nouns/field.js'
import { enclose } from '../../../kernel/xml/writer.js'
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
export type WireField<Of> = { readonly name: string; readonly valueIn: (of: Of) => WireValue | undefined }

const kinds: Readonly<Record<string, (value: never) => WireValue>> = {
  text: string,
  textOrEmpty: string,
  address: webAddress,
  addressOrEmpty: webAddress,
  country: string,
  status: string,
  id: integer,
  count: integer,
  bigint: integer,
  boolean,
  money,
  instant: dateTime,
}

/**
 * The fields of a noun's record in the order of JSON. A value comes from `derived`, by the name on the wire, or from the noun's
 * field.
 */
export function wireFields<Of>(
  noun: Noun,
  fieldsOf: (of: Of) => object,
  derived: Readonly<Record<string, WireField<Of>['valueIn']>>,
): WireField<Of>[] {
  return wireFieldsOf(noun).map((one) => {
    const name = wireNameOf(one)
    const ownValue = derived[name]
    if (ownValue) return { name, valueIn: ownValue }
    const write = kinds[kindOf(one)]
    if (!write) throw new TypeError(`no field is written as ${name}`)
    const absent = isOptionalOnWire(one) ? undefined : string('')
    const valueIn = (of: Of) => {
      const value = (fieldsOf(of) as Readonly<Record<string, unknown>>)[one.field]
      return value === undefined ? absent : write(value as never)
    }
    return { name, valueIn }
  })
}

/** One field in both formats, ready to be joined to others. */
export type FieldText = WireText & { readonly name: string }

/** The fields that are present, in both formats. */
export function fieldTexts<Of>(fields: readonly WireField<Of>[], of: Of): FieldText[] {
  const texts: FieldText[] = []
  for (const { name, valueIn } of fields) {
    const value = valueIn(of)
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
