import { describe, expect, it } from 'vitest'
import {
  booleanType,
  firstProblem,
  listType,
  numberType,
  objectType,
  ofOthers,
  optional,
  orNull,
  readObject,
  requireObject,
  textType,
  utcType,
  wholeType,
} from '../../../src/kernel/read-object.js'

const gift = objectType({
  id: wholeType(1, 9),
  name: textType(1, 5),
  at: orNull(utcType),
  tags: optional(listType(textType(), 1)),
  donor: objectType({ email: textType(1), isNew: optional(booleanType) }),
})
const right = { id: 3, name: 'Ana', donor: { email: 'a@b' } }

describe('an object from outside', () => {
  it('has the members that its types know, and those that are optional only where they came', () => {
    expect(readObject(gift, { ...right, at: null, more: 1 }, ofOthers)).toEqual({ value: right })
    const whole = { ...right, at: '2026-11-21T09:00:00.123Z', tags: [''], donor: { email: 'a@b', isNew: false } }
    expect(readObject(gift, whole, ofOthers)).toEqual({ value: whole })
  })

  it('is refused with every problem: where it is, what was expected and what came', () => {
    const { problems } = readObject(gift, { id: 10, name: 'a\0', at: '2026-02-30T09:00:00Z', tags: [] }, ofOthers)
    expect(problems).toEqual([
      { field: 'id', expected: 'a whole number from 1 to 9', got: '10' },
      { field: 'name', expected: 'a text without NUL', got: 'a\0' },
      { field: 'at', expected: 'an instant such as 2026-11-21T09:00:00Z', got: '2026-02-30T09:00:00Z' },
      { field: 'tags', expected: 'a list of at least 1', got: '[]' },
      { field: 'donor', expected: 'an object', got: 'nothing' },
      { field: 'donor.email', expected: 'a text', got: 'nothing' },
    ])
    expect(problems && firstProblem(problems)).toBe('id: expected a whole number from 1 to 9, got 10')
  })

  it('takes nothing for what it is not: null, a list, a member that every object inherits', () => {
    for (const other of [null, [], 'text', 1, undefined])
      expect(readObject(gift, other, ofOthers).value).toBeUndefined()
    const inherited = objectType({ constructor: optional(textType()), toString: textType() })
    expect(readObject(inherited, {}, ofOthers).problems).toMatchObject([{ field: 'toString', got: 'nothing' }])
    expect(readObject(objectType({ tags: orNull(listType(textType())) }), { tags: ['a', 2] }, ofOthers)).toEqual({
      problems: [{ field: 'tags.1', expected: 'a text', got: '2' }],
    })
    expect(readObject(objectType({ at: optional(textType()) }), { at: null }, ofOthers).value).toBeUndefined()
    expect(() => requireObject(objectType({ n: numberType() }), { n: Number.NaN })).toThrow('n: expected a number')
  })

  it('may be refused for a member that nobody reads, and told without its values', () => {
    const policy = { got: () => ({ missing: false }), unknown: (_: string, names: readonly string[]) => `${names}` }
    const few = objectType({ a: optional(textType()), b: optional(textType(0, 2)) })
    expect(readObject(few, { b: 'card', constructor: 1 }, policy, 'root').problems).toEqual([
      { field: 'root.b', expected: 'at most 2 characters', missing: false },
      { field: 'root.constructor', expected: 'a,b' },
    ])
  })
})
