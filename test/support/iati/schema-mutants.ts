import fc from 'fast-check'
import { type ElementRule, elementRule, type SimpleType } from '../../../src/iati/standard/index.js'
import type { RecordKind } from '../../../src/iati/validation/record.js'
import { type Element, element, textElement } from '../../../src/kernel/xml/element.js'
import { anActivity, anOrganisation, withAttributes } from './iati-records.js'

/** Texts that are values of each simple type. */
export const goodValues: Readonly<Record<SimpleType, readonly string[]>> = {
  string: ['', 'text', 'a & b', ' '],
  date: ['2024-02-29', '2024-01-01Z', '2024-12-31+02:00', '12024-01-01', '-0044-03-15'],
  dateTime: ['2024-01-01T00:00:00Z', '2024-01-01T24:00:00', '2024-01-01T12:30:15.25-05:00'],
  decimal: ['0', '-12.50', '+.5', '5.', ' 7 '],
  boolean: ['0', '1', 'true', 'false', ' true'],
  anyURI: ['https://a.example/b?c#d', 'relative path', '', 'mailto:a@b', '//host', 'http://[::1]:80/', 'é|{}'],
  int: ['0', '-2147483648', '2147483647', '+7'],
  nonNegativeInteger: ['0', '+1', '99999999999999999999'],
  positiveInteger: ['1', '0002'],
  NMTOKEN: ['sector', '-a.b:c', '7', 'ü'],
  language: ['en', '', 'zh-Hans-CN', 'x-own'],
}

/** Texts that are values of few types. */
export const badValues = [
  '',
  ' ',
  'x',
  'TRUE',
  '1e3',
  '1,5',
  '--1',
  '.',
  '2023-02-29',
  '2024-13-01',
  '0000-01-01',
  '2024-1-1',
  ' 2024-01-01',
  '2024-01-01T',
  '2024-01-01T25:00:00Z',
  '2024-01-01T00:00:60Z',
  '2024-01-01+15:00',
  '20240101',
  '2147483648',
  '-1',
  '0',
  '1.0',
  'en_GB',
  'toolonglanguage',
  '1a',
  'a b',
  ':a',
  'http://[bad',
  '%zz',
  'a#b#c',
  'http://a:',
  'http://a:b',
  'a[b',
  '1a:b',
  'http://u@h@i/',
  'http://a/[x]',
]

/** A random element that its rule allows; optional parts come now and then. */
function valid(name: string, rule: ElementRule): fc.Arbitrary<Element> {
  const attributes = fc.record(
    Object.fromEntries(
      [...rule.attributes].map(([attribute, type]) => [attribute, fc.constantFrom(...goodValues[type])]),
    ),
    { requiredKeys: [...rule.required] },
  ) as fc.Arbitrary<Record<string, string>>
  if (rule.content === 'any') {
    const anyAttributes = fc.constantFrom({}, { ref: 'anything' }, { 'own:code': '1' }, { 'xml:lang': 'en' })
    return anyAttributes.map((own) => textElement(name, 'anything', own))
  }
  if (rule.content !== 'elements') {
    const text = fc.constantFrom(...goodValues[rule.content])
    return fc.tuple(text, attributes).map(([words, own]) => textElement(name, words, { ...own }))
  }
  const children = rule.slots.map((slot) => {
    const most = Math.min(slot.most, slot.least + 2)
    const one =
      slot.name === '*'
        ? fc.constant(element('own:more', { any: '1' }))
        : fc.constant(0).chain(() => valid(slot.name, slot.rule))
    // Few of many optional children: a record stays small.
    const some = fc.array(one, { minLength: slot.least, maxLength: most })
    return slot.least > 0 ? some : fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: some })
  })
  return fc.tuple(fc.tuple(...children), attributes).map(([found, own]) => element(name, { ...own }, found.flat()))
}

/** Changes an element; `pick` chooses a number below its argument. */
export type Mutation = (element: Element, pick: (below: number) => number) => Element

const anyChild = (of: Element, pick: (below: number) => number) => pick(of.children.length)
const names = ['narrative', 'value', 'title', 'sector', 'donor', 'period-start', 'document-link', 'iati-activity']

/** Ways to change one element, as their names say. */
export const mutations: Readonly<Record<string, Mutation>> = {
  'takes a child away': (of, pick) => {
    const gone = anyChild(of, pick)
    return { ...of, children: of.children.filter((_, index) => index !== gone) }
  },
  'repeats a child': (of, pick) => {
    const twice = anyChild(of, pick)
    return { ...of, children: of.children.flatMap((child, index) => (index === twice ? [child, child] : child)) }
  },
  'swaps two children': (of, pick) => {
    const children = [...of.children]
    const [a, b] = [anyChild(of, pick), anyChild(of, pick)]
    const [first, second] = [children[a], children[b]]
    if (first && second) [children[a], children[b]] = [second, first]
    return { ...of, children }
  },
  'renames itself': (of, pick) => ({ ...of, name: names[pick(names.length)] ?? 'donor' }),
  'adds a child': (of, pick) => {
    const at = pick(of.children.length + 1)
    const added = textElement(names[pick(names.length)] ?? 'donor', 'x')
    return { ...of, text: '', children: [...of.children.slice(0, at), added, ...of.children.slice(at)] }
  },
  'adds a foreign child': (of, pick) => {
    const at = pick(of.children.length + 1)
    return {
      ...of,
      text: '',
      children: [...of.children.slice(0, at), element('own:more', {}), ...of.children.slice(at)],
    }
  },
  'adds text': (of) => (of.children.length > 0 ? of : { ...of, text: 'words' }),
  'adds white space': (of) => (of.children.length > 0 ? of : { ...of, text: '\n' }),
  'loses an attribute': (of, pick) => {
    const gone = Object.keys(of.attributes)[pick(Object.keys(of.attributes).length)]
    return gone === undefined ? of : withAttributes(of, { [gone]: undefined })
  },
  'gains an attribute': (of, pick) =>
    withAttributes(of, { [['code', 'own:code', 'xml:lang', 'percentage', 'xsi:nil'][pick(4)] ?? 'code']: '1' }),
  'changes an attribute': (of, pick) => {
    const changed = Object.keys(of.attributes)[pick(Object.keys(of.attributes).length)]
    return changed === undefined ? of : withAttributes(of, { [changed]: badValues[pick(badValues.length)] })
  },
  'changes its text': (of, pick) =>
    of.children.length > 0 ? of : { ...of, text: badValues[pick(badValues.length)] ?? '' },
}

/** Changes one element of the record, itself excluded; foreign ones and those without a declared type stay. */
export function mutated(record: Element, mutate: Mutation, pick: (below: number) => number): Element {
  const places: Element[] = []
  const visit = (of: Element): void => {
    for (const child of of.children) {
      if (child.name.includes(':') || child.name === 'organisation-identifier') continue
      places.push(child)
      visit(child)
    }
  }
  visit(record)
  const place = places[pick(places.length)]
  const rebuild = (of: Element): Element => {
    if (of === place) return mutate(of, pick)
    return { ...of, children: of.children.map(rebuild) }
  }
  return rebuild(record)
}

/**
 * libxml2 lets an unbounded element come again after foreign ones where nothing else may follow it; the schema's
 * sequence (`narrative+, any*`) does not, and other consumers refuse it.
 */
export function isLibxmlBlind(finding: string): boolean {
  return finding.includes('before elements of a foreign namespace')
}

const recordRules: Readonly<Record<RecordKind, [string, string]>> = {
  activity: ['iati-activity', '/iati-activities/iati-activity'],
  organisation: ['iati-organisation', '/iati-organisations/iati-organisation'],
}

/** Random records that the structure allows, and now and then the handmade one. */
export function records(kind: RecordKind): fc.Arbitrary<Element> {
  const [name, path] = recordRules[kind]
  const rule = elementRule(path)
  if (!rule) throw new Error(`no rule ${path}`)
  return fc.oneof(valid(name, rule), fc.constant(kind === 'activity' ? anActivity() : anOrganisation()))
}
