// biome-ignore-all lint/suspicious/noControlCharactersInRegex: both formats forbid or escape control characters
import { type Decimal, fromMinorUnits, toMinorUnits } from '../../domain/money.js'
import { enclose, escapeText, legalText } from '../../xml/writer.js'

/** The two formats of the API. */
export type Format = 'xml' | 'json'

/** One record, ready in both formats: the XML element and the JSON value. */
export type WireText = { readonly xml: string; readonly json: string }

/**
 * A value of the wire format, from which both forms are written, so that they cannot differ in what they say. A scalar
 * is the text that both forms show; JSON puts quotes around strings only, so numbers stay exact.
 */
export type WireValue = WireScalar | WireRecord | WireList

export type WireScalar = {
  readonly kind: 'string' | 'number' | 'boolean'
  readonly text: string
  /** No format has to escape anything of it. */
  readonly plain: boolean
}

/** Fields in the order of JSON. XML writes them in ASCII order of their names unless `xmlOrder` is `given`. */
export type WireRecord = {
  readonly kind: 'record'
  readonly fields: readonly WireField[]
  readonly xmlOrder: 'ascii' | 'given'
}

/** A repeated element: an array in JSON also for one value; left out for none (wire.md 1.5). */
export type WireList = { readonly kind: 'list'; readonly values: readonly WireValue[] }

export type WireField = {
  readonly name: string
  readonly value: WireValue
  /** Written as an attribute in XML; a plain key in JSON. */
  readonly attribute: boolean
}

// What XML escapes or forbids, and JSON escapes; one search here saves three.
const special = /[&<>"\\\u0000-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/

/** A text; characters that XML cannot hold are left out of both forms. */
export function string(text: string): WireScalar {
  const plain = !special.test(text)
  return { kind: 'string', text: plain ? text : legalText(text), plain }
}

/** A whole number, also as the decimal text of one that no JavaScript number can hold. */
export function integer(value: number | string): WireScalar {
  return { kind: 'number', text: String(value), plain: true }
}

export function boolean(value: boolean): WireScalar {
  return { kind: 'boolean', text: String(value), plain: true }
}

/** An amount with two decimals: `8239.33`, `55000.00`. */
export function money(amount: Decimal): WireScalar {
  return { kind: 'number', text: fromMinorUnits(toMinorUnits(amount, 2), 2), plain: true }
}

/** A decimal without trailing zeros: `13.5392`. */
export function decimal(value: Decimal): WireScalar {
  return { kind: 'number', text: value.includes('.') ? value.replace(/\.?0+$/, '') : value, plain: true }
}

/** An instant as `2026-10-02T08:00:00+00:00`: UTC, no fractions (wire.md 1.6). */
export function dateTime(instant: Date): WireScalar {
  return { kind: 'string', text: `${instant.toISOString().slice(0, 19)}+00:00`, plain: true }
}

export function list(values: readonly WireValue[]): WireList {
  return { kind: 'list', values }
}

type FieldEntry = readonly [name: string, value: WireValue | undefined]

/** A record of the fields that are present; a name that begins with `@` is an attribute in XML. */
export function record(fields: readonly FieldEntry[], xmlOrder: WireRecord['xmlOrder'] = 'ascii'): WireRecord {
  const present: WireField[] = []
  for (const [name, value] of fields) {
    if (value === undefined) continue
    const attribute = name.startsWith('@')
    present.push({ name: attribute ? name.slice(1) : name, value, attribute })
  }
  return { kind: 'record', xmlOrder, fields: present }
}

/** A wrapper such as `<themes><theme>..</theme></themes>`; kept when it is empty (wire.md 1.5). */
export function wrapper(itemName: string, values: readonly WireValue[]): WireRecord {
  return record([[itemName, list(values)]])
}

/** The value in both formats; `name` is the name of the XML element. */
export function wireText(name: string, value: WireRecord): WireText {
  return { xml: toXml(name, value), json: toJson(value) }
}

/** One field in both formats, ready to be joined to others. */
export type FieldText = { readonly name: string; readonly xml: string; readonly json: string }

/** The fields of a record in both formats, so that several records can be made of them; attributes are not for this. */
export function fieldTexts({ fields }: WireRecord): FieldText[] {
  return fields.map(({ name, value }) => ({ name, xml: toXml(name, value), json: toMember(name, value) }))
}

/** A record of these fields, XML in ASCII order of their names. */
export function joinFields(name: string, fields: readonly FieldText[]): WireText {
  let members = ''
  for (const { json } of fields) if (json !== '') members += members === '' ? json : `,${json}`
  let content = ''
  for (const { xml } of fields.toSorted(byName)) content += xml
  return { xml: enclose(name, content), json: `{${members}}` }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1
}

/** The value as XML, with open-and-close tags throughout: an element, or one for each value of a list. */
export function toXml(name: string, value: WireValue): string {
  if (value.kind === 'list') return value.values.map((item) => toXml(name, item)).join('')
  if (value.kind !== 'record') return enclose(name, value.plain ? value.text : escapeText(value.text))
  let attributes: Record<string, string> | undefined
  const children: WireField[] = []
  for (const field of value.fields) {
    if (field.attribute) attributes = { ...attributes, [field.name]: scalarText(field.value) }
    else children.push(field)
  }
  if (value.xmlOrder === 'ascii') children.sort(byName)
  let content = ''
  for (const child of children) content += toXml(child.name, child.value)
  return enclose(name, content, attributes)
}

function scalarText(value: WireValue): string {
  if (value.kind === 'record' || value.kind === 'list') throw new TypeError('an attribute holds one scalar')
  return value.text
}

/** The value as JSON. */
export function toJson(value: WireValue): string {
  if (value.kind === 'string') return value.plain ? `"${value.text}"` : JSON.stringify(value.text)
  if (value.kind === 'list') return `[${value.values.map(toJson).join(',')}]`
  if (value.kind !== 'record') return value.text
  let members = ''
  for (const field of value.fields) {
    const member = toMember(field.name, field.value)
    if (member !== '') members += members === '' ? member : `,${member}`
  }
  return `{${members}}`
}

/** A member of an object; nothing for an empty list. */
function toMember(name: string, value: WireValue): string {
  return value.kind === 'list' && value.values.length === 0 ? '' : `"${name}":${toJson(value)}`
}

/** What every XML answer begins with (wire.md 1.4). */
export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

/** A whole document: the declaration and the root element, or an object whose only key is the root's name. */
export function wireDocument(format: Format, root: string, text: WireText): string {
  return format === 'xml' ? xmlDeclaration + text.xml : `{${JSON.stringify(root)}:${text.json}}`
}
