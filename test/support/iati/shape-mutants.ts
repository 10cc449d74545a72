import { expect } from 'vitest'
import { type ElementRule, elementRule, type SimpleType } from '../../../src/iati/standard/index.js'
import type { XsdValidator } from '../../../src/iati/validation/index.js'
import { Shapes } from '../../../src/iati/validation/shapes.js'
import { isOfType, isOrdinary } from '../../../src/iati/validation/simple-types.js'
import { checkStructure } from '../../../src/iati/validation/structure.js'
import { type Element, element, textElement } from '../../../src/kernel/xml/element.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { randomFrom } from '../values/random.js'
import { anActivity, withAttributes } from './iati-records.js'
import { officialVerdict, schemaCodes } from './schema-agreement.js'
import { badValues, goodValues, type Mutation, mutations } from './schema-mutants.js'

/** A number below its argument. */
type Pick = (below: number) => number

const values = [...badValues, ...Object.values(goodValues).flat()]

// Parts of values that parsers of numbers, dates and URIs take differently.
const parts = [
  ...'0123456789+-.:,;TZeEabztrufls%#/?@[]{}|\\^`~_&<>"\'*() \t\n\r',
  ...['\u00a0', '\u2003', '\u200b', '\ufeff', '\u0663', '\uff11', 'é', '\u0001', '\ufffe', '\ud83d', '\u{1f600}'],
  ...[
    '00:00',
    '+14:00',
    '-14:01',
    '24:00:00',
    '.000',
    '2024-02-29',
    '-0001',
    '0000',
    '99999999999',
    '2147483648',
    'E5',
  ],
  ...['http://', '//', 'xn--', '::1', '%41', '%4', 'INF', 'NaN', '0x1', 'true', 'i-', 'x-'],
]

function pickFrom(seed: number): Pick {
  const random = randomFrom(seed)
  return (below) => Math.floor(random() * below)
}

/** A value of any type, mostly one of few, with up to eight places changed. */
function oddValue(from: readonly string[], pick: Pick): string {
  let text = from[pick(from.length)] ?? ''
  for (let edits = pick(3) * pick(5); edits > 0; edits -= 1) {
    const at = pick(text.length + 1)
    const gone = pick(2) * pick(4)
    text = text.slice(0, at) + (pick(4) === 0 ? '' : parts[pick(parts.length)]) + text.slice(at + gone)
  }
  return text
}

const moreMutations: Readonly<Record<string, Mutation>> = {
  'changes an attribute a little': (of, pick) => {
    const names = Object.keys(of.attributes)
    const name = names[pick(names.length)]
    return name === undefined ? of : withAttributes(of, { [name]: oddValue([of.attributes[name] ?? ''], pick) })
  },
  'has another value in an attribute': (of, pick) => {
    const names = Object.keys(of.attributes)
    const name = names[pick(names.length)]
    return name === undefined ? of : withAttributes(of, { [name]: oddValue(values, pick) })
  },
  'changes its text a little': (of, pick) => ({ ...of, text: oddValue([of.text], pick) }),
  'renames an attribute': (of, pick) => {
    const names = Object.keys(of.attributes)
    const renamed = names[pick(names.length)]
    const other = ['code', 'ref', 'type', 'xml:lang', 'iso-date', 'vocabulary', 'xmlns:own', 'own:ref', 'xml:id'][
      pick(9)
    ]
    if (renamed === undefined || other === undefined) return of
    return withAttributes(of, { [renamed]: undefined, [other]: of.attributes[renamed] })
  },
  'turns its attributes round': (of) => ({
    ...of,
    attributes: Object.fromEntries(Object.entries(of.attributes).reverse()),
  }),
  'moves a child': (of, pick) => {
    const children = [...of.children]
    const moved = children.splice(pick(children.length), 1)
    children.splice(pick(children.length + 1), 0, ...moved)
    return { ...of, children }
  },
  'repeats a child many times': (of, pick) => {
    const many = pick(of.children.length)
    const times = [3, 12, 60, 300][pick(4)]
    return { ...of, children: of.children.flatMap((child, at) => (at === many ? Array(times).fill(child) : child)) }
  },
  'takes a default namespace': (of) => withAttributes(of, { xmlns: 'https://own.example/' }),
  'holds a child of its own kind': (of) => ({ ...of, children: [...of.children, element(of.name, of.attributes)] }),
}

const allMutations = Object.values({ ...mutations, ...moreMutations })

/** Changes one to three elements, the record itself among them. */
function mutant(record: Element, pick: Pick): Element {
  let changed = record
  for (let changes = 1 + pick(3); changes > 0; changes -= 1) {
    const mutate = allMutations[pick(allMutations.length)]
    const places: Element[] = []
    const visit = (of: Element): void => {
      places.push(of)
      of.children.forEach(visit)
    }
    visit(changed)
    const place = places[pick(10) === 0 ? 0 : pick(places.length)]
    const rebuild = (of: Element): Element => {
      if (of === place && mutate) return mutate(of, pick)
      return { ...of, children: of.children.map(rebuild) }
    }
    changed = rebuild(changed)
    // The record's own name is for the file's check.
    if (changed.name !== record.name) changed = { ...changed, name: record.name }
  }
  return changed
}

const activityRule = elementRule('/iati-activities/iati-activity') as ElementRule

/**
 * Changes the activities at random and shows each to the official schema, whatever is known of its shapes: it may refuse
 * none that shapes and simple types let pass. Code lists and rules do not count, for the schema has none. Returns how many
 * were let pass, and how many of all the schema refused.
 */
export function proveShapes(xsd: XsdValidator | undefined, activities: readonly Element[], mutants: number, seed = 1) {
  const pick = pickFrom(seed)
  const shapes = new Shapes()
  const count = { passed: 0, refused: 0 }
  for (let number = 0; number < activities.length + mutants; number += 1) {
    const original = activities[number % activities.length] ?? element('', {})
    // The originals are first: they teach their shapes.
    const record = number < activities.length ? original : mutant(original, pick)
    const shape = shapes.open()
    checkStructure(record, activityRule, { add: ({ code }) => schemaCodes.has(code) && shape.doubt() }, shape)
    const verdict = xsd ? officialVerdict(xsd, 'activity', record) : []
    if (shape.isAccepted()) {
      count.passed += 1
      expect(verdict, writeElement(record)).toEqual([])
    }
    if (verdict.length > 0) count.refused += 1
    else shape.accept()
  }
  return count
}

const title = element('title', {}, [textElement('narrative', 'a')])

/** An activity of few elements with a value of the type. */
const places: Readonly<Record<Exclude<SimpleType, 'string'>, (text: string) => Element>> = {
  date: (text) => small(element('activity-date', { type: '2', 'iso-date': text })),
  dateTime: (text) => withAttributes(small(), { 'last-updated-datetime': text }),
  decimal: (text) => small(element('recipient-country', { code: 'KE', percentage: text })),
  boolean: (text) => withAttributes(small(), { humanitarian: text }),
  anyURI: (text) => small(element('contact-info', {}, [textElement('website', text)])),
  int: (text) => withAttributes(small(), { hierarchy: text }),
  nonNegativeInteger: (level) =>
    small(element('location', {}, [element('administrative', { code: '1', vocabulary: '1', level })])),
  positiveInteger: (year) =>
    small(
      element('result', { type: '1' }, [
        title,
        element('indicator', { measure: '1' }, [title, element('baseline', { year })]),
      ]),
    ),
  NMTOKEN: (text) => small(element('legacy-data', { name: 'a', value: 'a', 'iati-equivalent': text })),
  language: (text) => withAttributes(small(), { 'xml:lang': text }),
}

function small(more?: Element): Element {
  const { slotOf } = activityRule
  const place = ({ name }: Element) => slotOf.get(name)?.index ?? 0
  const children = anActivity().children.filter(({ name }) => slotOf.get(name)?.least === 1)
  return element(
    'iati-activity',
    {},
    [...children, ...(more ? [more] : [])].sort((a, b) => place(a) - place(b)),
  )
}

/** The types that have values. */
export const comparedTypes = Object.keys(places) as (keyof typeof places)[]

/**
 * Shows so many odd texts of a simple type to the official schema; returns those that it refuses and we take as ordinary,
 * and how many ordinary values there were.
 */
export function proveType(xsd: XsdValidator | undefined, type: keyof typeof places, texts: number, seed = 1) {
  const pick = pickFrom(seed)
  const refused: string[] = []
  let ordinary = 0
  for (let number = 0; number < texts; number += 1) {
    const text = oddValue(pick(5) === 0 ? values : goodValues[type], pick)
    if (!isOfType(type, text) || !isOrdinary(type, text)) continue
    ordinary += 1
    if (xsd && officialVerdict(xsd, 'activity', places[type](text)).length > 0) refused.push(text)
  }
  return { refused, ordinary }
}
