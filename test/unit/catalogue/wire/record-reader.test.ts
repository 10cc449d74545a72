import { describe, expect, it } from 'vitest'
import type { ParsedObject, ParsedValue } from '../../../../src/catalogue/wire/read/parsed-value.js'
import { RecordReader } from '../../../../src/catalogue/wire/read/record-reader.js'

/** What one method makes of a field `f` with this value, the problems, and whether the field stays unknown. */
function read(method: (reader: RecordReader) => unknown, ...value: ParsedValue[]) {
  const reader = new RecordReader(value.length === 0 ? {} : { f: value[0] ?? null }, 'at/')
  const result = method(reader)
  const problems = reader.problems.map(({ field, expected, got }) =>
    got === undefined ? `${field}: ${expected}` : `${field}: ${expected}, got ${got}`,
  )
  return { result, problems, unknown: reader.unknown() }
}

const text = (reader: RecordReader) => reader.text('f')
const textOrEmpty = (reader: RecordReader) => reader.textOrEmpty('f')
const requiredText = (reader: RecordReader) => reader.requiredText('f')
const requiredId = (reader: RecordReader) => reader.requiredId('f')
const requiredBoolean = (reader: RecordReader) => reader.requiredBoolean('f')
const money = (reader: RecordReader) => reader.money('f')
const requiredMoney = (reader: RecordReader) => reader.requiredMoney('f')
const count = (reader: RecordReader) => reader.count('f')
const instant = (reader: RecordReader) => reader.instant('f')
const part = (reader: RecordReader) => reader.part('f')
const tryCount = (reader: RecordReader) => reader.tryCount('f')
const tryCoordinate = (reader: RecordReader) => reader.tryCoordinate('f', 90)
const tryBigint = (reader: RecordReader) => reader.tryBigint('f')
const absent: readonly ParsedValue[] = [null, '', {}]

describe('a field is read', () => {
  it.each<[string, (reader: RecordReader) => unknown, ParsedValue, unknown]>([
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
    ['an id', requiredId, ' 1 ', 1],
    ['an id', requiredId, '9007199254740991', 9007199254740991],
    ['a boolean', requiredBoolean, 'true', true],
    ['a boolean', requiredBoolean, ' false ', false],
    ['a boolean', requiredBoolean, true, true],
    ['money', money, '0', '0'],
    ['money', money, '123456789012345.6780', '123456789012345.6780'],
    ['money', money, '1.50000', '1.50000'],
    ['required money', requiredMoney, '12.50', '12.50'],
    ['a count', count, '0', 0],
    ['a count', count, '2147483647', 2147483647],
    ['an instant', instant, ' 2026-10-02T08:00:00Z ', new Date('2026-10-02T08:00:00Z')],
    ['a count, if it can be', tryCount, '3', 3],
    ['a coordinate', tryCoordinate, '-90', '-90'],
    ['a coordinate', tryCoordinate, '90.000', '90.000'],
    ['a coordinate', tryCoordinate, `1.${'0'.repeat(38)}`, `1.${'0'.repeat(38)}`],
    ['a bigint', tryBigint, '-9223372036854775808', '-9223372036854775808'],
    ['a bigint', tryBigint, '0007', '7'],
  ])('as %s with %o: %j', (_what, method, value, result) => {
    expect(read(method, value)).toEqual({ result, problems: [], unknown: undefined })
  })

  it.each([text, textOrEmpty, money, count, instant, part, tryCount, tryCoordinate, tryBigint])(
    'as absent where it is not there: %o',
    (method) => {
      expect(read(method)).toEqual({ result: undefined, problems: [], unknown: undefined })
      for (const value of absent.slice(0, 2))
        if (method !== textOrEmpty) expect(read(method, value)).toMatchObject({ result: undefined, problems: [] })
    },
  )

  it('never from the prototype of its object', () => {
    const reader = new RecordReader({})
    expect(reader.value('constructor')).toBeUndefined()
    expect(reader.textOrEmpty('toString')).toBeUndefined()
  })
})

describe('a field is refused', () => {
  const texts = 'at/f: one text of at most 100000 characters'
  const decimals = 'at/f: a plain decimal from 0, without exponent, of at most 3 decimals'
  const ids = 'at/f: a whole number above 0'
  const instants = 'at/f: a date and time with offset, such as 2025-02-11T10:30:00+00:00'

  it.each<[(reader: RecordReader) => unknown, ParsedValue[], unknown, string]>([
    [text, [['a', 'b']], undefined, `${texts}, got ["a","b"]`],
    [text, ['x'.repeat(100_001)], undefined, `${texts}, got ${'x'.repeat(119)}…`],
    [text, [{ a: 'y'.repeat(200) }], undefined, `${texts}, got {"a":"${'y'.repeat(113)}…`],
    [requiredText, [], '', 'at/f: a text that is not blank'],
    [requiredText, [' '], '', 'at/f: a text that is not blank, got  '],
    [requiredText, [null], '', 'at/f: a text that is not blank, got null'],
    [requiredText, [['a']], '', `${texts}, got ["a"]`],
    [requiredId, [], 0, ids],
    [requiredId, [null], 0, `${ids}, got null`],
    [requiredId, ['0'], 0, `${ids}, got 0`],
    [requiredId, ['-1'], 0, `${ids}, got -1`],
    [requiredId, ['1.5'], 0, `${ids}, got 1.5`],
    [requiredId, ['9007199254740992'], 0, `${ids}, got 9007199254740992`],
    [requiredId, ['00000000000000001'], 0, `${ids}, got 00000000000000001`],
    [requiredId, ['1x'], 0, `${ids}, got 1x`],
    [requiredId, ['x1'], 0, `${ids}, got x1`],
    [requiredBoolean, ['yes'], false, 'at/f: true or false, got yes'],
    [requiredBoolean, ['constructor'], false, 'at/f: true or false, got constructor'],
    [requiredBoolean, [['true']], false, 'at/f: true or false, got ["true"]'],
    [money, ['-0.01'], undefined, `${decimals}, got -0.01`],
    [money, ['1.00010'], undefined, `${decimals}, got 1.00010`],
    [money, ['1.2345'], undefined, `${decimals}, got 1.2345`],
    [money, ['1234567890123456'], undefined, `${decimals}, got 1234567890123456`],
    [money, ['1e3'], undefined, `${decimals}, got 1e3`],
    [requiredMoney, [], '0', decimals],
    [requiredMoney, ['much'], '0', `${decimals}, got much`],
    [count, ['2147483648'], undefined, 'at/f: a whole number from 0, got 2147483648'],
    [count, ['1.5'], undefined, 'at/f: a whole number from 0, got 1.5'],
    [count, [{}], undefined, 'at/f: a whole number from 0, got {}'],
    [instant, ['2026-10-02'], undefined, `${instants}, got 2026-10-02`],
    [part, ['a'], undefined, 'at/f: one object, got a'],
    [part, [['a']], undefined, 'at/f: one object, got ["a"]'],
  ])('by %o for %j', (method, value, result, problem) => {
    expect(read(method, ...value)).toMatchObject({ result, problems: [problem] })
  })

  it('with a value of 120 characters in full', () => {
    const longest = 'x'.repeat(120)
    expect(read(count, longest).problems).toEqual([`at/f: a whole number from 0, got ${longest}`])
  })
})

describe('a value that is only tried', () => {
  it.each<[(reader: RecordReader) => unknown, ParsedValue]>([
    [tryCount, '-1'],
    [tryCount, '2147483648'],
    [tryCoordinate, '90.001'],
    [tryCoordinate, '-90.001'],
    [tryCoordinate, 'north'],
    [tryCoordinate, `1.${'0'.repeat(39)}`],
    [tryBigint, '9223372036854775808'],
    [tryBigint, '-9223372036854775809'],
    [tryBigint, '12345678901234567890'],
    [tryBigint, '1.0'],
    [tryBigint, 'x1'],
    [tryBigint, '1x'],
    [tryBigint, ['1']],
  ])('stays unknown where it is wrong: %o of %j', (method, value) => {
    expect(read(method, value)).toEqual({ result: undefined, problems: [], unknown: { f: value } })
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
    expect(new RecordReader(object).list(wrapper, 'one')).toEqual(expected)
  })

  it('share the problems of the record, each with its path', () => {
    const reader = new RecordReader(object, 'project/')
    for (const one of reader.parts('list', 'one')) one.count('a')
    for (const one of reader.parts('bare', 'one')) one.refuse('a', 'less')
    reader.part('image')?.refuse('a', 'more', 'x')
    expect(reader.part('empty')).toBeUndefined()
    expect(reader.problems).toEqual([
      { field: 'project/bare/a', expected: 'less' },
      { field: 'project/image/a', expected: 'more', got: 'x' },
    ])
  })

  it('leave what nobody read, by name', () => {
    const reader = new RecordReader({ b: '1', c: null, a: ['2'], d: '3' })
    reader.value('d')
    expect(Object.entries(reader.unknown() ?? {})).toEqual([
      ['a', ['2']],
      ['b', '1'],
      ['c', null],
    ])
  })
})
