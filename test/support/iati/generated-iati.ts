import { type CodeRule, type ElementRule, elementRule, type SimpleType } from '../../../src/iati/standard/index.js'
import { randomFrom } from '../values/random.js'
import { goodValues } from './schema-mutants.js'

/** An element that is being made. */
export type Tree = { name: string; attributes: Record<string, string>; children: Tree[]; text: string }

/** The namespaces of generated files, which their root declares; `lost` is declared nowhere. */
export const namespaces: Readonly<Record<string, string>> = {
  akvo: 'http://akvo.org/iati-activities',
  usaid: 'https://usaid.example/ns?a=1&b=2',
  'iati-extra': 'urn:iati-extra',
}

const encodings = ['UTF-8', 'UTF-8 with mark', 'ISO-8859-1', 'windows-1252', 'UTF-16LE', 'UTF-16BE'] as const

type Root = 'iati-activities' | 'iati-organisations'

export type GeneratedFile = { readonly bytes: Buffer; readonly records: readonly Tree[]; readonly encoding: string }

/** What the publisher of all generated records is called; some records name it otherwise. */
export type GeneratedPublisher = { readonly ref: string; readonly type: string; readonly name: string }

/** A file of records as publishers write them, valid by the schema and nearly always by the rules; the same seed, the same bytes. */
export function generatedFile(root: Root, seed: number, count: number, publisher: GeneratedPublisher): GeneratedFile {
  const made = new Maker(randomFrom(seed), publisher, seed === 0)
  const encoding = made.pick(encodings)
  const one = root === 'iati-activities' ? 'iati-activity' : 'iati-organisation'
  const records = Array.from({ length: count }, (_, index) => made.record(`/${root}/${one}`, `${seed}-${index}`))
  const declared = Object.entries(namespaces).map(([prefix, uri]) => [`xmlns:${prefix}`, uri])
  const version = made.pick(['2.03', '2.03', '2.02', '2.01'])
  const start = { 'generated-datetime': '2024-05-06T07:08:09+02:00', ...Object.fromEntries(declared), version }
  if (made.chance(0.3))
    Object.assign(start, { 'linked-data-default': 'https://old.example/', 'akvo:kind': 'root', 'lost:y': '1' })
  const others = made.chance(0.3) ? [{ name: 'akvo:about', attributes: {}, children: [], text: 'the file' }] : []
  const text = new Writer(made, encoding).document({
    name: root,
    attributes: start,
    children: [...records, ...others],
    text: '',
  })
  return { bytes: encoded(text, encoding), records, encoding }
}

function encoded(text: string, encoding: string): Buffer {
  if (encoding === 'UTF-8') return Buffer.from(text)
  if (encoding === 'UTF-8 with mark') return Buffer.from(`\uFEFF${text}`)
  if (encoding === 'UTF-16LE') return Buffer.from(`\uFEFF${text}`, 'utf16le')
  if (encoding === 'UTF-16BE') return Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()
  return Buffer.from(text.replaceAll('€', '\x80'), 'latin1')
}

const words = [
  'wells',
  'Été à Nîmes',
  'naïve “quotes” – dash',
  'مياه نظيفة',
  '水',
  'a < b & c > d',
  ' blanks  around ',
  'two\nlines',
  '😀',
  'tab\there',
  ']]>',
  'decompose\u0301 and compose\u00e9',
  'zero\u200Bwidth\u00AD and\u00A0no break',
  'line\u2028and\uFEFFmark',
  '<p>HTML &amp;nbsp;</p>',
  '\u202Eturned\u202C \u200Emarks',
  'controls \u0085 \u009F \u007F \uE000',
  '=1+1',
  '€ 5',
]
const languages = ['en', 'fr', 'ar', 'EN', 'es', 'en-GB', '']
const longText = 'A long text of many words. '.repeat(800)
const references = ['', ' ', 'GB-COH-1234567', '44002', 'XM-DAC-41114', 'NL KVK 1/2', 'org|x&y?']
const links = [
  'https://old.example/a b.pdf',
  'old.example/report',
  'https://old.example/é?x=1&y=2',
  'ftp://old.example/x',
  '',
]

class Maker {
  readonly #random: () => number
  readonly #publisher: GeneratedPublisher
  /** Whether a record has every element and attribute of the schema, those that may be repeated twice. */
  readonly #isWhole: boolean

  constructor(random: () => number, publisher: GeneratedPublisher, isWhole: boolean) {
    this.#random = random
    this.#publisher = publisher
    this.#isWhole = isWhole
  }

  chance(share: number): boolean {
    return this.#random() < share
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T
  }

  record(path: string, number: string): Tree {
    const rule = elementRule(path)
    if (!rule) throw new Error(`the standard has no ${path}`)
    const record = this.#element(path.split('/').at(-1) ?? '', rule, 0)
    this.#obey(record, number)
    const inside = all(record).filter(({ attributes }) => attributes.xmlns === undefined)
    if (record.attributes['xml:lang'] === undefined)
      for (const one of inside) if (one.name === 'narrative') one.attributes['xml:lang'] ??= 'fr'
    if (record.attributes['default-currency'] === undefined)
      for (const one of inside) if (/^(value|forecast|loan-status)$/.test(one.name)) one.attributes.currency ??= 'CHF'
    if (this.chance(0.1)) record.children.reverse()
    return record
  }

  #element(name: string, rule: ElementRule, depth: number): Tree {
    const made: Tree = { name, attributes: {}, children: [], text: '' }
    for (const [attribute, type] of rule.attributes) {
      if (this.#isWhole || rule.required.includes(attribute) || this.chance(0.5))
        made.attributes[attribute] = this.#value(type, attribute)
    }
    for (const code of inOrder(rule)) this.#code(made, code)
    if (rule.foreignAttributes && this.chance(0.03))
      made.attributes[this.pick(['akvo:kind', 'usaid:x', 'iati-extra:y', 'lost:z'])] = this.pick(words)
    if (rule.content !== 'elements') {
      made.text = rule.content === 'any' || rule.content === 'string' ? this.#words() : this.#value(rule.content, name)
      for (const code of inOrder(rule)) this.#code(made, code)
      return made
    }
    for (const slot of rule.slots) {
      const most = depth === 0 ? 3 : 2
      const wanted = this.chance(depth === 0 ? 0.6 : 0.45) ? 1 + this.below(Math.min(slot.most, most)) : 0
      const count = this.#isWhole
        ? Math.min(slot.most, depth < 2 ? 2 : 1)
        : slot.name === '*'
          ? this.chance(0.08)
            ? 1
            : 0
          : Math.max(slot.least, wanted)
      for (let nth = 0; nth < count; nth++)
        made.children.push(slot.name === '*' ? this.#foreign() : this.#element(slot.name, slot.rule, depth + 1))
    }
    return made
  }

  /** A code of the list that governs an attribute or a text, withdrawn ones too. */
  #code(made: Tree, { attribute, list, condition }: CodeRule): void {
    if (attribute === 'xml:lang') return
    if (attribute !== undefined && made.attributes[attribute] === undefined) return
    const decisive = condition && made.attributes[condition.attribute]
    if (condition && (decisive === undefined ? !condition.orAbsent : decisive !== condition.equals)) return
    const code = this.pick([...list.codes.keys()])
    if (attribute === undefined) made.text = code
    else made.attributes[attribute] = code
  }

  #value(type: SimpleType, name: string): string {
    if (name === 'xml:lang') return this.pick(languages)
    if (type === 'date') return this.pick(['2019-05-06', '2020-02-29', '2018-12-31Z', '2017-01-01+02:00'])
    if (/-date$/.test(name)) return this.pick(['2019-05-06', '2020-02-29', '2021-11-30'])
    if (type === 'dateTime')
      return this.pick(['2024-01-02T03:04:05Z', '2024-01-02T03:04:05', '2023-12-31T23:59:59.5-05:00'])
    if (type === 'decimal')
      return this.pick(['.63', '5.', '+5', '-7.25', '0', ' 12 ', '123456789012345678.123456789', '00.10'])
    if (/url|uri|website/.test(name)) return this.pick(links)
    if (/^ref$|activity-id$/.test(name)) return this.pick(references)
    if (type === 'string') return this.chance(0.1) ? '' : this.pick(words)
    return this.pick(goodValues[type])
  }

  #words(): string {
    if (this.chance(0.01)) return longText
    return this.chance(0.3) ? `${this.pick(words)} ${this.pick(words)}` : this.pick(words)
  }

  #foreign(): Tree {
    const prefix = this.pick([...Object.keys(namespaces), 'xmlns', 'lost'])
    const leaf = (name: string): Tree => ({ name, attributes: {}, children: [], text: this.#words() })
    if (prefix === 'xmlns')
      return { ...leaf(this.pick(['note', 'title', 'transaction'])), attributes: { xmlns: 'urn:own' } }
    const made = leaf(`${prefix}:${this.pick(['note', 'title', 'value'])}`)
    if (this.chance(0.3)) made.attributes[`${prefix}:kind`] = this.pick(words)
    return this.chance(0.5) ? made : { ...made, text: '', children: [leaf(`${prefix}:a`), leaf(`${prefix}:b`)] }
  }

  /** Makes the record obey the rules beyond the schema, so that an official validator has nothing to say but advice. */
  #obey(record: Tree, number: string): void {
    const { ref, type, name } = this.#publisher
    for (const one of record.children) {
      if (one.attributes.xmlns !== undefined) continue
      if (one.name === 'iati-identifier') one.text = this.#identifier(`${ref}-${number}`)
      if (one.name === 'organisation-identifier')
        one.text = number.endsWith('-0') ? ref : this.pick([`44${number}`, `XM-DAC-${number}`])
      if (one.name === 'name' && number.endsWith('-0')) (one.children[0] as Tree).text = name
      if (one.name === 'reporting-org') {
        one.attributes.ref = ref
        one.attributes.type = this.pick([type, '10'])
        if (this.chance(0.8)) (one.children[0] as Tree).text = name
      }
    }
    for (const one of all(record)) this.#obeyHere(one)
    if (record.name !== 'iati-activity') return
    const named = (wanted: string) =>
      record.children.filter((one) => one.name === wanted && one.attributes.xmlns === undefined)
    const last = (after: string, element: Tree) => {
      const order = elementRule('/iati-activities/iati-activity')?.slots.map((slot) => slot.name) ?? []
      const at = record.children.findIndex(
        (one) =>
          !order.includes(one.name) ||
          one.attributes.xmlns !== undefined ||
          order.indexOf(one.name) > order.indexOf(after),
      )
      record.children.splice(at < 0 ? record.children.length : at, 0, element)
    }
    const made = (element: string, attributes: Record<string, string>): Tree => ({
      name: element,
      attributes,
      children: [],
      text: '',
    })
    if (!named('activity-date').some(({ attributes }) => /^[12]$/.test(attributes.type ?? '')))
      last('activity-date', made('activity-date', { type: '1', 'iso-date': '2015-01-01' }))
    for (const one of named('activity-date'))
      one.attributes['iso-date'] = this.pick(
        /[12]/.test(one.attributes.type ?? '') ? ['2015-01-01', '2015-01-01Z'] : ['2016-12-31', '2020-06-01+02:00'],
      )
    const transactions = named('transaction')
    const onTransactions = transactions.length > 0 && (this.#isWhole ? number.endsWith('1') : this.chance(0.3))
    const keep = (within: Tree, pattern: RegExp, isKept: boolean) => {
      if (!isKept)
        within.children = within.children.filter((one) => one.attributes.xmlns !== undefined || !pattern.test(one.name))
    }
    keep(record, /^sector$|^recipient-(country|region)$/, !onTransactions)
    for (const one of transactions) {
      keep(one, /^sector$|^recipient-(country|region)$/, onTransactions)
      if (!onTransactions) continue
      const at = one.children.findIndex(
        (child) => /^(flow|finance|aid|tied)-(type|status)$|:/.test(child.name) || child.attributes.xmlns !== undefined,
      )
      const missing = (pattern: RegExp, added: Tree) =>
        one.children.some((child) => pattern.test(child.name) && child.attributes.xmlns === undefined) ? [] : [added]
      const sector = missing(/^sector$/, made('sector', { code: '14031' }))
      const country = missing(/^recipient-/, made('recipient-country', { code: 'KE' }))
      one.children.splice(at < 0 ? one.children.length : at, 0, ...sector, ...country)
      const places = [
        'transaction-type',
        'transaction-date',
        'value',
        'description',
        'provider-org',
        'receiver-org',
        'disbursement-channel',
        'sector',
        'recipient-country',
        'recipient-region',
        'flow-type',
        'finance-type',
        'aid-type',
        'tied-status',
      ]
      const placeOf = (child: Tree) =>
        child.attributes.xmlns !== undefined || !places.includes(child.name)
          ? places.length
          : places.indexOf(child.name)
      one.children.sort((a, b) => placeOf(a) - placeOf(b))
    }
    if (onTransactions) return
    if (named('sector').length === 0) last('sector', made('sector', { code: '14031' }))
    if (named('recipient-country').length + named('recipient-region').length === 0)
      last('recipient-country', made('recipient-country', { code: 'KE' }))
    share(named('sector'))
    const regions = named('recipient-region')
    for (const one of regions) Object.assign(one.attributes, { code: '298', vocabulary: '1' })
    share([...named('recipient-country'), ...regions])
  }

  #obeyHere(one: Tree): void {
    const { attributes, children } = one
    if (attributes.xmlns !== undefined) return
    const has = (name: string) => children.some((child) => child.name === name && child.attributes.xmlns === undefined)
    const narrative = (): Tree => ({ name: 'narrative', attributes: {}, children: [], text: 'In words' })
    if (/^(title|description)$/.test(one.name)) {
      const first = children[0] as Tree
      if (first.text === '' || this.chance(0.05)) children.splice(0, 1, { ...first, text: '' }, narrative())
    }
    if (/^(sector|policy-marker)$/.test(one.name) && /^9[89]$/.test(attributes.vocabulary ?? '') && !has('narrative'))
      children.unshift(narrative())
    if (one.name === 'policy-marker') attributes.significance ??= '1'
    if (
      /^(participating|owner|provider|receiver)-org$/.test(one.name) &&
      attributes.ref === undefined &&
      !has('narrative')
    )
      children.unshift(narrative())
    const [start, end] = ['period-start', 'period-end'].map((name) => children.find((child) => child.name === name))
    if (start) start.attributes['iso-date'] = this.pick(['2019-01-01', '2027-04-01', '2020-01-01Z'])
    if (end) end.attributes['iso-date'] = `${start?.attributes['iso-date']?.slice(0, 4)}-12-31`
    if (one.name === 'recipient-country-budget')
      for (const line of children)
        if (line.name === 'budget-line')
          for (const value of line.children)
            if (value.name === 'value') value.attributes['value-date'] = end?.attributes['iso-date'] ?? ''
    if (attributes.percentage !== undefined) attributes.percentage = this.pick(['100', '.63', '5.', '+5'])
    if (one.name === 'capital-spend') attributes.percentage = '88.8'
    if (one.name === 'result' && has('reference'))
      for (const child of children)
        child.children =
          child.name === 'indicator' ? child.children.filter(({ name }) => name !== 'reference') : child.children
    if (one.name === 'indicator' && attributes.measure !== '5')
      for (const figure of children.flatMap((child) => (child.name === 'period' ? child.children : [child])))
        if (/^(baseline|target|actual)$/.test(figure.name)) figure.attributes.value ??= '12'
  }

  #identifier(plain: string): string {
    return this.chance(0.6)
      ? plain
      : plain +
          this.pick([
            '/01',
            ' & B',
            '\n - 2019',
            '?x|y',
            ' é',
            'e\u0301',
            '\u00A0x',
            `-${'9'.repeat(300)}`,
            '   ',
            '<5>',
          ])
  }
}

/** The code lists of an element, those that another attribute decides about last. */
function inOrder({ codes }: ElementRule): readonly CodeRule[] {
  return [...codes].sort((a, b) => Number(a.condition !== undefined) - Number(b.condition !== undefined))
}

/** Gives elements that together are the whole their shares; one alone needs none. */
function share(parts: readonly Tree[]): void {
  const groups = new Map<string, Tree[]>()
  for (const one of parts) {
    const key = one.name === 'sector' ? one.attributes.vocabulary || '1' : ''
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  for (const [only, ...others] of groups.values()) {
    if (only && others.length === 0) delete only.attributes.percentage
    if (only && others.length > 0) only.attributes.percentage = `+${100 - others.length * 0.63}`.replace('+99.', '99.')
    for (const one of others) one.attributes.percentage = '.63'
  }
}

function all(one: Tree): Tree[] {
  return [one, ...one.children.flatMap(all)]
}

/** Writes elements in the many ways that XML has for the same. */
class Writer {
  readonly #made: Maker
  readonly #encoding: string

  constructor(made: Maker, encoding: string) {
    this.#made = made
    this.#encoding = encoding
  }

  document(root: Tree): string {
    const named = this.#encoding.startsWith('UTF-16') ? 'UTF-16' : this.#encoding.replace(' with mark', '')
    const before = this.#made.chance(0.2) && this.#encoding === 'UTF-8' ? '\n \n' : ''
    return `${before}<?xml version="1.0" encoding="${named}"?>\n<!-- as published -->${this.#element(root)}\n`
  }

  #element({ name, attributes, children, text }: Tree): string {
    const pairs = Object.entries(attributes).map(
      ([key, value]) => `${this.#blank()}${key}${this.#made.chance(0.05) ? ' = ' : '='}${this.#quoted(value)}`,
    )
    const start = `<${name}${pairs.join('')}`
    if (children.length === 0 && text === '' && this.#made.chance(0.7)) return `${start}/>`
    const inner =
      children.length > 0
        ? children.map((child) => this.#layout() + this.#element(child)).join('') + this.#layout()
        : this.#text(text)
    return `${start}>${inner}</${name}${this.#made.chance(0.02) ? ' ' : ''}>`
  }

  #blank(): string {
    return this.#made.chance(0.05) ? '\n\t' : ' '
  }

  #layout(): string {
    return this.#made.chance(0.5) ? '' : this.#made.pick(['\n  ', '\r\n', '<!-- a comment -->', '<?php x ?>', '\n\n'])
  }

  #quoted(value: string): string {
    const quote = this.#made.pick(['"', "'"])
    return (
      quote +
      this.#escaped(value)
        .replaceAll('\n', '&#10;')
        .replaceAll('\t', '&#9;')
        .replaceAll(quote, quote === '"' ? '&quot;' : '&apos;') +
      quote
    )
  }

  #text(text: string): string {
    const isPlain = this.#inEncoding(text) === text && !text.includes(']]>')
    if (isPlain && this.#made.chance(0.1)) return `<![CDATA[${text}]]>`
    const escaped = this.#escaped(text)
    return this.#made.chance(0.02) ? `${escaped}<!-- within -->` : escaped
  }

  #escaped(text: string): string {
    return this.#inEncoding(
      text
        .replaceAll('&', this.#made.pick(['&amp;', '&#38;']))
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;'),
    )
  }

  #inEncoding(text: string): string {
    if (this.#encoding.startsWith('UTF')) return text
    return text.replace(/[\u0080-\u{10FFFF}]/gu, (sign) => {
      const code = sign.codePointAt(0) ?? 0
      if (code >= 0xa0 && code <= 0xff) return sign
      return sign === '€' && this.#encoding === 'windows-1252' ? sign : `&#x${code.toString(16)};`
    })
  }
}

/** The paths of all elements and attributes that records have. */
export function pathsIn(records: readonly Tree[], around: string): Set<string> {
  const found = new Set<string>()
  const visit = ({ name, attributes, children }: Tree, above: string): void => {
    const at = `${above}/${name}`
    found.add(at)
    for (const key of Object.keys(attributes)) found.add(`${at}/@${key}`)
    for (const child of children) visit(child, at)
  }
  for (const record of records) visit(record, around)
  return found
}

/** The paths of all elements and attributes that the schema has for a record. */
export function pathsOfSchema(at: string, found: Set<string> = new Set()): Set<string> {
  const rule = elementRule(at)
  if (!rule) throw new Error(`the standard has no ${at}`)
  found.add(at)
  for (const key of rule.attributes.keys()) found.add(`${at}/@${key}`)
  for (const { name } of rule.slots) if (name !== '*') pathsOfSchema(`${at}/${name}`, found)
  return found
}
