// biome-ignore-all lint/suspicious/noControlCharactersInRegex: both formats forbid or escape control characters
import { type Decimal, fromMinorUnits, toMinorUnits } from '../../../kernel/money.js'
import { safeAddress } from '../../../kernel/safe-address.js'
import { enclose, escapeText, legalText } from '../../../kernel/xml/writer.js'

/** The two formats of the API. */
export type Format = 'xml' | 'json'

/** A record in both formats: the XML element and the JSON value. */
export type WireText = { readonly xml: string; readonly json: string }

/**
 * A value of the wire format. Both formats are written from it, so they cannot differ. A scalar is the text that both
 * formats show; JSON puts quotes around strings only, so numbers stay exact.
 */
export type WireValue = WireScalar | WireObject | WireList

export type WireScalar = {
  readonly kind: 'string' | 'number' | 'boolean'
  readonly text: string
  /** Neither format has to escape any of it. */
  readonly plain: boolean
}

/** Fields in the order of JSON. XML writes them in ASCII order of their names unless `xmlOrder` is `given`. */
export type WireObject = {
  readonly kind: 'object'
  readonly fields: readonly Member[]
  readonly xmlOrder: 'ascii' | 'given'
}

/** A repeated element: an array in JSON also for one value; left out for none (wire.md 1.5). */
export type WireList = { readonly kind: 'list'; readonly values: readonly WireValue[] }

type Member = {
  readonly name: string
  readonly value: WireValue
  /** Written as an attribute in XML; a plain key in JSON. */
  readonly attribute: boolean
}

// Characters that XML escapes or forbids or JSON escapes; one search for them saves three.
const special = /[&<>"\\\u0000-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/

/** A text; characters that XML forbids are left out of both formats. */
export function string(text: string): WireScalar {
  const plain = !special.test(text)
  return { kind: 'string', text: plain ? text : legalText(text), plain }
}

/** An address; empty where it is none of the web (wire.md 1.10). */
export function webAddress(text: string): WireScalar {
  return string(safeAddress(text))
}

/** A whole number; as decimal text where a JavaScript number is not exact. */
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

/** An object of the fields that are present; a name that begins with `@` is an attribute in XML. */
export function object(fields: readonly FieldEntry[], xmlOrder: WireObject['xmlOrder'] = 'ascii'): WireObject {
  const present: Member[] = []
  for (const [name, value] of fields) {
    if (value === undefined) continue
    const attribute = name.startsWith('@')
    present.push({ name: attribute ? name.slice(1) : name, value, attribute })
  }
  return { kind: 'object', xmlOrder, fields: present }
}

/** A wrapper such as `<themes><theme>..</theme></themes>`; kept when it is empty (wire.md 1.5). */
export function wrapper(itemName: string, values: readonly WireValue[]): WireObject {
  return object([[itemName, list(values)]])
}

/** ASCII order, the order of XML. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1
}

/** The value as XML, with open-and-close tags throughout: an element, or one for each value of a list. */
export function toXml(name: string, value: WireValue): string {
  if (value.kind === 'list') return value.values.map((item) => toXml(name, item)).join('')
  if (value.kind !== 'object') return enclose(name, value.plain ? value.text : escapeText(value.text))
  let attributes: Record<string, string> | undefined
  const children: Member[] = []
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
  if (value.kind === 'object' || value.kind === 'list') throw new TypeError('an attribute holds one scalar')
  return value.text
}

/** The value as JSON. */
export function toJson(value: WireValue): string {
  if (value.kind === 'string') return value.plain ? `"${value.text}"` : JSON.stringify(value.text)
  if (value.kind === 'list') return `[${value.values.map(toJson).join(',')}]`
  if (value.kind !== 'object') return value.text
  let members = ''
  for (const field of value.fields) {
    const member = toMember(field.name, field.value)
    if (member !== '') members += members === '' ? member : `,${member}`
  }
  return `{${members}}`
}

/** A member of an object; nothing for an empty list. */
export function toMember(name: string, value: WireValue): string {
  return value.kind === 'list' && value.values.length === 0 ? '' : `"${name}":${toJson(value)}`
}

/** What every XML answer begins with (wire.md 1.4). */
export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

/** A whole document: the declaration and the root element, or an object whose only key is the root's name. */
export function wireDocument(format: Format, root: string, value: WireObject): string {
  return format === 'xml' ? xmlDeclaration + toXml(root, value) : `{${toMember(root, value)}}`
}
