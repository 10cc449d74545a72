import { describe, expect, it } from 'vitest'
import type { ParsedObject, ParsedValue } from '../../../../src/catalogue/wire/read/parsed-value.js'
import { ofRecords, partType, recordTypes, wrapped } from '../../../../src/catalogue/wire/read/record-types.js'
import { type MemberType, objectType, optional, ValuePlace } from '../../../../src/kernel/read-object.js'

/** What a type makes of a field `f` with this value, the problems, and whether the field stays unknown. */
function read(type: MemberType, ...value: ParsedValue[]) {
  const place = new ValuePlace(ofRecords, [], 'at')
  const given = value.length === 0 ? {} : { f: value[0] ?? null }
  const object = place.read(objectType({ f: type }, 'unknown'), given) as {
    readonly f?: unknown
    readonly unknown?: ParsedObject
  }
  const problems = place.problems.map(({ field, expected, got }) =>
    got === undefined ? `${field}: ${expected}` : `${field}: ${expected}, got ${got}`,
  )
  return { result: object.f, problems, unknown: object.unknown }
}

const { text, textOrEmpty, requiredText, id, truth, count, instant, triedCount, latitude, bigint } = recordTypes
const requiredMoney = recordTypes.money
const money = optional(requiredMoney)
const part = partType(objectType({}))
const absent: readonly ParsedValue[] = [null, '', {}]

describe('a field is read', () => {
  it.each<[string, MemberType, ParsedValue, unknown]>([
    ['text', text, ' a ', ' a '],
    ['text', text, true, 'true'],
    ['text', text, ' \n', undefined],
    ['text', text, [], undefined],
    ['text', text, 'x'.repeat(100_000), 'x'.repeat(100_000)],
    ['a text that may be empty', textOrEmpty, 'a', 'a'],
    ['a text that may be empty', textOrEmpty, '', ''],
    ['a text that may be empty', textOrEmpty, {}, ''],
    ['a text that may be empty', textOrEmpty, ' ', undefined],
    ['a text that may be empty', textOrEmpty, [], undefined],
    ['a text that may be empty', textOrEmpty, null, undefined],
    ['a required text', requiredText, 'a', 'a'],
    ['an id', id, ' 1 ', 1],
    ['an id', id, '9007199254740991', 9007199254740991],
    ['a boolean', truth, 'true', true],
    ['a boolean', truth, ' false ', false],
    ['a boolean', truth, true, true],
    ['money', money, '0', '0'],
    ['money', money, '123456789012345.6780', '123456789012345.6780'],
    ['money', money, '1.50000', '1.50000'],
    ['required money', requiredMoney, '12.50', '12.50'],
    ['a count', count, '0', 0],
    ['a count', count, '2147483647', 2147483647],
    ['an instant', instant, ' 2026-10-02T08:00:00Z ', new Date('2026-10-02T08:00:00Z')],
    ['a count, if it can be', triedCount, '3', 3],
    ['a coordinate', latitude, '-90', '-90'],
    ['a coordinate', latitude, '90.000', '90.000'],
    ['a coordinate', latitude, `1.${'0'.repeat(38)}`, `1.${'0'.repeat(38)}`],
    ['a bigint', bigint, '-9223372036854775808', '-9223372036854775808'],
    ['a bigint', bigint, '0007', '7'],
  ])('as %s with %o: %j', (_what, type, value, result) => {
    expect(read(type, value)).toEqual({ result, problems: [], unknown: undefined })
  })

  it.each([text, textOrEmpty, money, count, instant, part, triedCount, latitude, bigint])(
    'as absent where it is not there: %o',
    (type) => {
      expect(read(type)).toEqual({ result: undefined, problems: [], unknown: undefined })
      for (const value of absent.slice(0, 2))
        if (type !== textOrEmpty) expect(read(type, value)).toMatchObject({ result: undefined, problems: [] })
    },
  )

  it('never from the prototype of its object', () => {
    const object = objectType({ constructor: optional(text), toString: textOrEmpty }, 'unknown')
    expect(new ValuePlace(ofRecords).read(object, {})).toEqual({})
  })
})

describe('a field is refused', () => {
  const texts = 'at/f: one text of at most 100000 characters'
  const decimals = 'at/f: a plain decimal from 0, without exponent, of at most 3 decimals'
  const ids = 'at/f: a whole number above 0'
  const instants = 'at/f: a date and time with offset, such as 2025-02-11T10:30:00+00:00'

  it.each<[MemberType, ParsedValue[], unknown, string]>([
    [text, [['a', 'b']], undefined, `${texts}, got ["a","b"]`],
    [text, ['x'.repeat(100_001)], undefined, `${texts}, got ${'x'.repeat(119)}…`],
    [text, [{ a: 'y'.repeat(200) }], undefined, `${texts}, got {"a":"${'y'.repeat(113)}…`],
    [requiredText, [], undefined, 'at/f: a text that is not blank'],
    [requiredText, [' '], undefined, 'at/f: a text that is not blank, got  '],
    [requiredText, [null], undefined, 'at/f: a text that is not blank, got null'],
    [requiredText, [['a']], undefined, `${texts}, got ["a"]`],
    [id, [], undefined, ids],
    [id, [null], undefined, `${ids}, got null`],
    [id, ['0'], undefined, `${ids}, got 0`],
    [id, ['-1'], undefined, `${ids}, got -1`],
    [id, ['1.5'], undefined, `${ids}, got 1.5`],
    [id, ['9007199254740992'], undefined, `${ids}, got 9007199254740992`],
    [id, ['00000000000000001'], undefined, `${ids}, got 00000000000000001`],
    [id, ['1x'], undefined, `${ids}, got 1x`],
    [id, ['x1'], undefined, `${ids}, got x1`],
    [truth, ['yes'], undefined, 'at/f: true or false, got yes'],
    [truth, ['constructor'], undefined, 'at/f: true or false, got constructor'],
    [truth, [['true']], undefined, 'at/f: true or false, got ["true"]'],
    [money, ['-0.01'], undefined, `${decimals}, got -0.01`],
    [money, ['1.00010'], undefined, `${decimals}, got 1.00010`],
    [money, ['1.2345'], undefined, `${decimals}, got 1.2345`],
    [money, ['1234567890123456'], undefined, `${decimals}, got 1234567890123456`],
    [money, ['1e3'], undefined, `${decimals}, got 1e3`],
    [requiredMoney, [], undefined, decimals],
    [requiredMoney, ['much'], undefined, `${decimals}, got much`],
    [count, ['2147483648'], undefined, 'at/f: a whole number from 0, got 2147483648'],
    [count, ['1.5'], undefined, 'at/f: a whole number from 0, got 1.5'],
    [count, [{}], undefined, 'at/f: a whole number from 0, got {}'],
    [instant, ['2026-10-02'], undefined, `${instants}, got 2026-10-02`],
    [part, ['a'], undefined, 'at/f: one object, got a'],
    [part, [['a']], undefined, 'at/f: one object, got ["a"]'],
  ])('by %o for %j', (type, value, result, problem) => {
    expect(read(type, ...value)).toMatchObject({ result, problems: [problem] })
  })

  it('with a value of 120 characters in full', () => {
    const longest = 'x'.repeat(120)
    expect(read(count, longest).problems).toEqual([`at/f: a whole number from 0, got ${longest}`])
  })
})

describe('a value that is only tried', () => {
  it.each<[MemberType, ParsedValue]>([
    [triedCount, '-1'],
    [triedCount, '2147483648'],
    [latitude, '90.001'],
    [latitude, '-90.001'],
    [latitude, 'north'],
    [latitude, `1.${'0'.repeat(39)}`],
    [bigint, '9223372036854775808'],
    [bigint, '-9223372036854775809'],
    [bigint, '12345678901234567890'],
    [bigint, '1.0'],
    [bigint, 'x1'],
    [bigint, '1x'],
    [bigint, ['1']],
  ])('stays unknown where it is wrong: %o of %j', (type, value) => {
    expect(read(type, value)).toEqual({ result: undefined, problems: [], unknown: { f: value } })
  })
})

describe('the parts of a record', () => {
  const object: ParsedObject = {
    ...{ none: null, single: { one: { a: '1' } }, list: { one: [{ a: '1' }, 'x', { a: '2' }] } },
    ...{ bare: [{ a: '3' }], text: 'x', image: { a: '4' }, empty: {} },
  }

  it.each<[string, ParsedObject[]]>([
    ['none', []],
    ['absent', []],
    ['single', [{ a: '1' }]],
    ['list', [{ a: '1' }, { a: '2' }]],
    ['bare', [{ a: '3' }]],
    ['text', []],
  ])('are the objects of a wrapper, a list or a single one: %s', (wrapper, expected) => {
    const list = wrapped('one', { a: text })
    expect(new ValuePlace(ofRecords).read(objectType({ [wrapper]: list }), object)).toEqual({ [wrapper]: expected })
  })

  it('share the problems of the record, each with its path', () => {
    const less = { expected: 'less', read: () => undefined }
    const place = new ValuePlace(ofRecords, [], 'project')
    const list = wrapped('one', { a: count })
    place.read(objectType({ list, bare: wrapped('one', { a: less }), image: part, empty: part, text: part }), object)
    expect(place.problems).toEqual([
      { field: 'project/bare/a', expected: 'less', got: '3' },
      { field: 'project/text', expected: 'one object', got: 'x' },
    ])
  })

  it('leave what nobody read, by name', () => {
    const read = new ValuePlace(ofRecords).read(objectType({ d: text }, 'unknown'), {
      b: '1',
      c: null,
      a: ['2'],
      d: '3',
    })
    expect(Object.entries(Object(read).unknown)).toEqual([
      ['a', ['2']],
      ['b', '1'],
      ['c', null],
    ])
  })
})
