import { readFileSync } from 'node:fs'
import type { CodeListMapping } from '../../../../src/iati/standard/facts.js'
import { type CodeRule, codeList, type ElementRule, elementRule } from '../../../../src/iati/standard/index.js'
import { type Element, element, textElement } from '../../../../src/kernel/xml/element.js'
import { allFound, exchanged, found, placed, rootPathOf } from '../iati-editing.js'
import { withAttributes } from '../iati-records.js'

/** The rows of the official mapping, as the program has them. */
export const codeRows = JSON.parse(
  readFileSync(new URL('../../../../src/iati/standard/data/mapping.json', import.meta.url), 'utf8'),
) as readonly CodeListMapping[]

/** How a row is written in a failure: `recipient-region/@code (Region where vocabulary is 1 or absent)`. */
export function rowName({ path, attribute, codelist, condition }: CodeListMapping): string {
  const where = condition
    ? ` where ${condition.attribute} is ${condition.equals}${condition.orAbsent ? ' or absent' : ''}`
    : ''
  return `${path}${attribute === null ? '' : `/@${attribute}`} (${codelist}${where})`
}

const activeCode = (list: ReturnType<typeof codeList>): string =>
  [...list.codes].find(([, { active }]) => active)?.[0] ?? ''
const withdrawnCode = (list: ReturnType<typeof codeList>): string | undefined =>
  [...list.codes].find(([, { active }]) => !active)?.[0]

const words: Readonly<Record<string, string>> = {
  ref: 'XM-DAC-41114',
  'iso-date': '2026-01-01',
  'value-date': '2026-01-01',
  url: 'https://giving.example/7',
  'iati-equivalent': '2',
  code: 'own',
  'owner-name': 'Own',
  year: '2025',
}
const values: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  dateTime: '2026-01-01T00:00:00Z',
  decimal: '1',
  boolean: '1',
  anyURI: 'https://giving.example/7',
  int: '1',
  nonNegativeInteger: '1',
  positiveInteger: '1',
  NMTOKEN: 'own',
  language: 'en',
}

function applies({ condition }: CodeRule, attributes: Readonly<Record<string, string>>): boolean {
  if (!condition) return true
  const decisive = attributes[condition.attribute]
  return decisive === undefined ? condition.orAbsent : decisive === condition.equals
}

/** The least element that the rule allows, with every attribute that a code list governs. */
function least(name: string, rule: ElementRule, row: CodeListMapping, path: readonly string[]): Element {
  const attributes: Record<string, string> = {}
  const here = path.length === 0
  if (here && row.condition) attributes[row.condition.attribute] = row.condition.equals
  for (const code of rule.codes) {
    const { attribute, list } = code
    if (attribute === undefined || attribute === 'xml:lang' || code.condition || attributes[attribute]) continue
    attributes[attribute] = activeCode(list)
  }
  for (const code of rule.codes) {
    if (code.attribute && code.condition && applies(code, attributes))
      attributes[code.attribute] = activeCode(code.list)
  }
  for (const attribute of rule.required)
    attributes[attribute] ??= words[attribute] ?? values[rule.attributes.get(attribute) ?? ''] ?? 'own'
  if (name === 'value' || name === 'forecast') attributes['value-date'] ??= '2026-01-01'
  if (name === 'recipient-region' && rule.attributes.has('percentage')) attributes.percentage = '0'
  const textRule = rule.codes.find(({ attribute }) => attribute === undefined)
  if (rule.content !== 'elements') {
    return textElement(name, textRule ? activeCode(textRule.list) : (values[rule.content] ?? 'Own'), attributes)
  }
  const next = path[0]
  const children = rule.slots.flatMap((slot) => {
    if (slot.name === '*') return []
    if (slot.name === next) return [least(slot.name, slot.rule, row, path.slice(1))]
    // A name is asked for by rules that are not the schema's.
    if (slot.least > 0 || slot.name === 'narrative') return [least(slot.name, slot.rule, row, ['-'])]
    return []
  })
  return element(name, attributes, children)
}

/**
 * A sound record with the place that the row governs: the record itself when it has one, else with the least that makes
 * the place. Undefined when the row is about another kind of record.
 */
export function withPlace(record: Element, row: CodeListMapping): { record: Element; place: Element } | undefined {
  const root = rootPathOf(record)
  if (row.path !== root && !row.path.startsWith(`${root}/`)) return undefined
  const path = row.path === root ? '' : row.path.slice(root.length + 1)
  const own = allFound(record, path).find((one) => fits(one, row))
  if (own) return { record, place: own }
  const names = path.split('/')
  // The deepest element that is there already gets the rest, unless it may not have it twice.
  for (let depth = names.length - 1; depth >= 0; depth -= 1) {
    const [parentPath, name = ''] = [names.slice(0, depth).join('/'), names[depth]]
    const parent = found(record, parentPath)
    const slot = elementRule(parentPath === '' ? root : `${root}/${parentPath}`)?.slotOf.get(name)
    if (!parent || !slot || parent.children.filter((child) => child.name === name).length >= slot.most) continue
    const grown = placed(record, parentPath, least(name, slot.rule, row, names.slice(depth + 1)))
    const place = allFound(grown, path).find((one) => fits(one, row))
    if (place) return { record: grown, place }
  }
  return undefined
}

function fits(place: Element, { attribute, condition }: CodeListMapping): boolean {
  if (attribute !== null && place.attributes[attribute] === undefined) return false
  if (!condition) return true
  const decisive = place.attributes[condition.attribute]
  return decisive === undefined ? condition.orAbsent : decisive === condition.equals
}

/** The record with another code at the place. */
export function withCode(record: Element, place: Element, { attribute }: CodeListMapping, code: string): Element {
  return exchanged(
    record,
    place,
    attribute === null ? { ...place, text: code } : withAttributes(place, { [attribute]: code }),
  )
}

/** Codes that may not stand at the place, with the notice that each gives. */
export function badCodes({ codelist }: CodeListMapping): { readonly code: string; readonly notice: string }[] {
  const withdrawn = withdrawnCode(codeList(codelist))
  return [
    { code: 'no-such-code', notice: 'code-unknown' },
    { code: '', notice: 'code-unknown' },
    ...(withdrawn === undefined ? [] : [{ code: withdrawn, notice: 'code-withdrawn' }]),
  ]
}
