import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createXsdValidator, validateActivity } from '../../../../src/iati/validation/index.js'
import { Shapes } from '../../../../src/iati/validation/shapes.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'
import type { Notice } from '../../../../src/kernel/notice.js'
import { type Element, element } from '../../../../src/kernel/xml/element.js'
import { anActivity, aTransaction, inserted, replaced, withAttributes } from '../../../support/iati/iati-records.js'
import { records } from '../../../support/iati/schema-mutants.js'
import { comparedTypes, proveShapes, proveType } from '../../../support/iati/shape-mutants.js'
import { officialStandard } from '../../../support/values/borrowed-files.js'

const official = officialStandard('asking the official XSD about shapes that it accepted')
const xsd = official ? await createXsdValidator(official) : undefined
afterAll(() => xsd?.dispose())

const refused: Notice[] = [
  { code: 'xsd-invalid', severity: 'error', subject: 'A', path: '/iati-activity', detail: 'no' },
]
const bytes = 8_000

/** The shape of an activity, as rendering takes it. */
function shapeIn(shapes: Shapes, activity: Element) {
  const shape = shapes.open()
  validateActivity(activity, { today: '2030-01-01' as IsoDate }, shape)
  return shape
}

/** Whether the schema is asked about an activity after it accepted the handmade one. */
function isAsked(activity: Element, shapes = new Shapes()): boolean {
  shapes.learn(shapeIn(shapes, anActivity()), [])
  return shapes.isAsked(shapeIn(shapes, activity), bytes)
}

describe('the official schema is asked', () => {
  it('about a shape that it has not accepted, and not about one that it has', () => {
    const shapes = new Shapes()
    expect(shapes.isAsked(shapeIn(shapes, anActivity()), bytes)).toBe(true)
    expect(isAsked(anActivity(), shapes)).toBe(false)
  })

  it('not about other values, or another number of the same children', () => {
    expect(isAsked(inserted(anActivity(), aTransaction('more', { type: '3', day: '2026-02-16' })))).toBe(false)
    expect(isAsked(withAttributes(anActivity(), { hierarchy: '1' }))).toBe(true)
  })

  const changed: [string, Element][] = [
    ['another attribute', replaced(anActivity(), 'sector', (of) => withAttributes(of, { ref: 'a' }))],
    ['one attribute less', replaced(anActivity(), 'budget', (of) => withAttributes(of, { status: undefined }))],
    ['a value out of the ordinary', replaced(anActivity(), 'document-link', (of) => withAttributes(of, { url: 'é' }))],
    ['a malformed value', replaced(anActivity(), 'budget/value', (of) => ({ ...of, text: '1,5' }))],
    ['a missing element', replaced(anActivity(), 'title', () => undefined)],
    ['an element of a foreign namespace', inserted(anActivity(), element('own:more', {}), 'result')],
    ['an attribute of a foreign namespace', withAttributes(anActivity(), { 'own:ref': 'a' })],
    [
      'a default namespace',
      replaced(anActivity(), 'title', (of) => withAttributes(of, { xmlns: 'https://own.example/' })),
    ],
  ]
  it.each(changed)('about %s, however often it was', (_what, activity) => {
    const shapes = new Shapes()
    expect(isAsked(activity, shapes)).toBe(true)
    expect(isAsked(activity, shapes)).toBe(true)
  })

  it('about one in 50 of those that it knows, and about every large one', () => {
    const shapes = new Shapes()
    const asked = Array.from({ length: 200 }, () => isAsked(anActivity(), shapes))
    expect(asked.filter(Boolean)).toHaveLength(4)
    expect(shapes.isAsked(shapeIn(shapes, anActivity()), 1_000_001)).toBe(true)
  })

  it('about everything, once it has refused what it knew', () => {
    const shapes = new Shapes()
    expect(isAsked(anActivity(), shapes)).toBe(false)
    shapes.learn(shapeIn(shapes, anActivity()), refused)
    expect(isAsked(anActivity(), shapes)).toBe(true)
  })

  it('about a record that was not checked, and about every one where there is no room to learn', () => {
    expect(new Shapes().isAsked(new Shapes().open(), bytes)).toBe(true)
    expect(isAsked(anActivity(), new Shapes(20))).toBe(true)
  })
})

// The campaign has 100,000 mutants and many more texts.
describe.skipIf(!xsd)('the official schema does not refuse', () => {
  it.each(comparedTypes)('a value of %s that we take as ordinary', (type) => {
    const { refused, ordinary } = proveType(xsd, type, 400)
    expect(refused).toEqual([])
    expect(ordinary).toBeGreaterThan(50)
  })

  it('an activity of shapes that it accepted, however it was changed', () => {
    const activities = [anActivity(), ...fc.sample(records('activity'), { numRuns: 60, seed: 1 })]
    const { passed, refused } = proveShapes(xsd, activities, 1_200)
    expect(passed).toBeGreaterThan(150)
    expect(refused).toBeGreaterThan(300)
  })
})
