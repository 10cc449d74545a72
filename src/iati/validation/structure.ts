import type { Element } from '../../kernel/xml/element.js'
import type { CodeRule, ElementRule, SimpleType, Slot } from '../standard/index.js'
import { type Findings, quoted } from './findings.js'
import type { NoticeKind } from './notice-kind.js'
import type { RecordShape, ShapeStep } from './shapes.js'
import { isOfType, isOrdinary } from './simple-types.js'

/** Notices of the schema and the code lists; rules beyond them are in `rules/`. */
export const structureNotices = {
  'element-unknown': {
    severity: 'error',
    official: ['0.3.1'],
    sentence: 'The standard has no such element at this place.',
  },
  'element-misplaced': {
    severity: 'error',
    official: ['0.3.1'],
    sentence: 'The children of an element are not in the order that the standard demands.',
  },
  'element-missing': { severity: 'error', official: ['0.3.1'], sentence: 'A mandatory element is missing.' },
  'element-repeated': {
    severity: 'error',
    official: ['0.3.1'],
    sentence: 'An element occurs more often than the standard allows.',
  },
  'attribute-missing': { severity: 'error', official: ['0.3.1'], sentence: 'A mandatory attribute is missing.' },
  'attribute-unknown': {
    severity: 'error',
    official: ['0.3.1'],
    sentence: 'The standard has no such attribute on this element.',
  },
  'value-malformed': {
    severity: 'error',
    official: ['0.3.1'],
    sentence: 'A value does not have the form of its type (date, decimal, boolean, URI and so on).',
  },
  'attribute-unchecked': {
    severity: 'info',
    official: [],
    sentence: 'An attribute can only be checked by the official schema, which was not given.',
  },
  'text-unexpected': {
    severity: 'error',
    official: ['0.3.1'],
    sentence: 'Text stands where the standard allows only elements.',
  },
  'code-unknown': {
    severity: 'error',
    // The official validator has a rule for languages (9.95.1), but at a path that no attribute is at: it never reports one.
    severityElsewhere: 'warning',
    elsewhereOnlyOn: 'xml:lang',
    official: ['9.1.1-9.132.1'],
    sentence: 'A code is not on the code list that governs it.',
  },
  'code-withdrawn': {
    severity: 'error',
    // Withdrawn codes are valid in historical data.
    severityElsewhere: 'warning',
    official: [],
    sentence: 'A code has been withdrawn from its code list (the official validator accepts it).',
  },
} as const

const endOfAttributes = '>'
const notBlank = /[^ \t\r\n]/

/**
 * Checks an element and its descendants against its rule: what the XSD demands, and the code lists. Elements and
 * attributes of foreign namespaces are not checked where the schema allows them. Valid data allocates nothing here.
 * `shape` is told where each element ends.
 */
export function checkStructure(element: Element, rule: ElementRule, findings: Findings, shape?: RecordShape): void {
  const step = checkAttributes(element, rule, findings, shape)
  if (rule.content === 'any') {
    shape?.doubt()
    return
  }
  if (rule.content === 'elements') {
    if (element.text !== '' && notBlank.test(element.text)) {
      findings.add(
        entry('text-unexpected'),
        element,
        `expected only elements, got the text ${quoted(element.text.trim())}`,
      )
    }
    checkChildren(element, rule, findings, shape, step)
    return
  }
  if (shape && !isOrdinary(rule.content, element.text)) shape.doubt()
  shape?.end(step)
  if (element.children.length > 0) {
    for (const child of element.children) {
      findings.add(
        entry('element-unknown'),
        child,
        `expected only text in ${element.name}, got the element ${child.name}`,
      )
    }
  }
  if (rule.content !== 'string' && !isOfType(rule.content, element.text)) {
    findings.add(entry('value-malformed'), element, `expected ${typeNames[rule.content]}, got ${quoted(element.text)}`)
  }
}

function entry(code: keyof typeof structureNotices): NoticeKind & { readonly code: string } {
  return { code, ...structureNotices[code] }
}

/** Checks the attributes of one element, and the code lists that govern it; returns its shape up to there. */
export function checkAttributes(
  element: Element,
  rule: ElementRule,
  findings: Findings,
  shape?: RecordShape,
): ShapeStep | undefined {
  const { attributes } = element
  let step = shape?.shapes.start(rule)
  for (const name in attributes) {
    const value = attributes[name] ?? ''
    const declared = rule.attributes.get(name)
    const type = declared ?? otherAttribute(name, rule)
    if (type === undefined) {
      findings.add(entry('attribute-unknown'), element, `${element.name} has no attribute ${name}`, name)
    } else if (type !== 'string' && !isOfType(type, value)) {
      findings.add(entry('value-malformed'), element, `expected ${typeNames[type]}, got ${quoted(value)}`, name)
    } else if (declared === undefined && onlyInSchema.has(name)) {
      findings.add(entry('attribute-unchecked'), element, `only the official schema can check ${name}`, name)
    }
    if (!shape) continue
    step = step?.next(name)
    // Of the attributes that are declared elsewhere, we know the type of one.
    if ((declared === undefined && name !== 'xml:lang') || !isOrdinary(type ?? 'string', value)) shape.doubt()
  }
  for (const name of rule.required) {
    if (attributes[name] === undefined) {
      findings.add(
        entry('attribute-missing'),
        element,
        `expected the attribute ${name} on ${element.name}, got none`,
        name,
      )
    }
  }
  for (const code of rule.codes) checkCode(element, code, findings)
  return step
}

// `xsi:schemaLocation` and `xsi:noNamespaceSchemaLocation` are hints that the schema allows everywhere.
const onlyInSchema = new Set(['xsi:type', 'xsi:nil', 'xml:id', 'xml:space', 'xml:base'])

/** The type of an attribute that the element does not declare; undefined when the schema does not allow it. */
function otherAttribute(name: string, rule: ElementRule): SimpleType | undefined {
  if (name === 'xmlns' || name.startsWith('xmlns:') || name.startsWith('xsi:')) return 'string'
  if (!rule.foreignAttributes) return undefined
  if (name === 'xml:lang') return 'language'
  return name.includes(':') || rule.content === 'any' ? 'string' : undefined
}

/** Whether an element is of another namespace: prefixed, or with a default namespace of its own. */
export function isForeign(element: Element): boolean {
  return element.name.includes(':') || (element.attributes.xmlns !== undefined && element.attributes.xmlns !== '')
}

function checkChildren(
  element: Element,
  rule: ElementRule,
  findings: Findings,
  shape: RecordShape | undefined,
  attributes: ShapeStep | undefined,
): void {
  const { slots } = rule
  let step = attributes?.next(endOfAttributes)
  let at = 0
  let count = 0
  let inOrder = true
  const { children } = element
  for (let index = 0; index < children.length; index++) {
    const child = children[index] as Element
    const slot = slotFor(child, rule, at)
    if (!slot) {
      inOrder = false
      continue
    }
    if (slot.index !== at || count === 0) step = step?.next(slot.name)
    if (slot.index === at) {
      count += 1
      if (count > slot.most) inOrder = false
    } else {
      if (slot.index < at || !mayEnd(slots, at, count, slot.index)) inOrder = false
      at = slot.index
      count = 1
    }
    if (slot.name === '*') shape?.doubt()
    else checkStructure(child, slot.rule, findings, shape)
  }
  shape?.end(step)
  if (!mayEnd(slots, at, count, slots.length)) inOrder = false
  if (!inOrder) explainChildren(element, rule, findings)
}

/** The slot of a child; a foreign child takes the next wildcard. */
function slotFor(child: Element, rule: ElementRule, at: number): Slot | undefined {
  const slot = rule.slotOf.get(child.name)
  if ((slot && child.attributes.xmlns === undefined) || !isForeign(child)) return slot
  let last: Slot | undefined
  for (const slot of rule.slots) {
    if (slot.name !== '*') continue
    if (slot.index >= at) return slot
    last = slot
  }
  return last
}

/** Whether the sequence may continue at slot `end` after `count` children at slot `at`. */
function mayEnd(slots: readonly Slot[], at: number, count: number, end: number): boolean {
  const current = slots[at]
  if (current && count < current.least) return false
  for (let index = at + 1; index < end; index += 1) {
    const skipped = slots[index]
    if (skipped && skipped.least > 0) return false
  }
  return true
}

/** Reports what is wrong with children that are not in a valid sequence. */
function explainChildren(element: Element, rule: ElementRule, findings: Findings): void {
  const counts = new Map<string, number>()
  let furthest: Slot | undefined
  for (const child of element.children) {
    const slot = slotFor(child, rule, furthest?.index ?? 0)
    if (!slot) {
      findings.add(entry('element-unknown'), child, `${element.name} has no child ${child.name}`)
      continue
    }
    const count = (counts.get(slot.name) ?? 0) + 1
    counts.set(slot.name, count)
    if (count === slot.most + 1) {
      findings.add(
        entry('element-repeated'),
        child,
        `expected at most ${slot.most} ${slot.name} in ${element.name}, got more`,
      )
    }
    if (furthest && slot.index < furthest.index) {
      const after = furthest.name === '*' ? 'elements of a foreign namespace' : furthest.name
      findings.add(
        entry('element-misplaced'),
        child,
        `expected ${child.name} before ${after} in ${element.name}, got it after`,
      )
    } else furthest = slot
  }
  for (const { name, least } of rule.slots) {
    if (name !== '*' && (counts.get(name) ?? 0) < least) {
      findings.add(entry('element-missing'), element, `expected at least ${least} ${name} in ${element.name}, got none`)
    }
  }
}

function checkCode(element: Element, { attribute, list, condition }: CodeRule, findings: Findings): void {
  const code = attribute === undefined ? element.text.trim() : element.attributes[attribute]
  if (code === undefined) return
  if (condition) {
    const decisive = element.attributes[condition.attribute]
    if (decisive === undefined ? !condition.orAbsent : decisive !== condition.equals) return
  }
  // An empty xml:lang states that the language is unknown (XML 1.0 section 2.12).
  if (code === '' && attribute === 'xml:lang') return
  const known = list.codes.get(code)
  if (known?.active) return
  if (known) {
    findings.add(
      entry('code-withdrawn'),
      element,
      `expected an active code of ${list.name}, got the withdrawn ${quoted(code)} (${known.name})`,
      attribute,
    )
  } else {
    const detail = `expected a code of ${list.name}, got ${quoted(code)}`
    findings.add(entry('code-unknown'), element, detail, attribute)
  }
}

const typeNames: Readonly<Record<SimpleType, string>> = {
  string: 'text',
  date: 'a date (YYYY-MM-DD)',
  dateTime: 'a date and time (YYYY-MM-DDThh:mm:ssZ)',
  decimal: 'a decimal number',
  boolean: 'a boolean (1, 0, true or false)',
  anyURI: 'a URI',
  int: 'an integer of 32 bits',
  nonNegativeInteger: 'an integer of 0 or more',
  positiveInteger: 'an integer of 1 or more',
  NMTOKEN: 'a name token',
  language: 'a language tag',
}
