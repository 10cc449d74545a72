import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { holdsCardNumber } from '../../../src/kernel/card-number.js'
import { parseDonorKeys } from '../../../src/kernel/donor.js'
import { invalidFields, problemText, ServiceError } from '../../../src/kernel/errors.js'
import { isLoopbackHost } from '../../../src/kernel/loopback-host.js'
import { addSummaries, hasError, type Notice, noNotices, summarizeNotices } from '../../../src/kernel/notice.js'
import { firstThemeName } from '../../../src/kernel/theme-sectors.js'
import { moneyOf, valueTypes } from '../../../src/kernel/values.js'
import { createYielder } from '../../../src/kernel/yielder.js'
import { parseOperatorTokens } from '../../../src/platform/config/operator-token.js'
import { isFinished } from '../../../src/work/run.js'

describe('notices', () => {
  const notice = (code: string, severity: Notice['severity']): Notice => ({
    ...{ code, severity, subject: 's', path: '/', detail: 'd' },
  })
  const notices = [notice('a', 'error'), notice('b', 'warning'), notice('a', 'error'), notice('c', 'info')]

  it('are counted by severity and code', () => {
    expect(noNotices).toEqual({ errors: 0, warnings: 0, infos: 0, byCode: {} })
    expect(summarizeNotices([])).toEqual(noNotices)
    expect(summarizeNotices(notices)).toEqual({ errors: 2, warnings: 1, infos: 1, byCode: { a: 2, b: 1, c: 1 } })
  })

  it('of two are added', () => {
    const one = { errors: 5, warnings: 7, infos: 9, byCode: { a: 5, d: 1 } }
    expect(addSummaries(one, summarizeNotices(notices))).toEqual({
      ...{ errors: 7, warnings: 8, infos: 10, byCode: { a: 7, b: 1, c: 1, d: 1 } },
    })
    expect(one.byCode).toEqual({ a: 5, d: 1 })
  })

  it('hold an error or none', () => {
    expect(hasError(notices)).toBe(true)
    expect(hasError(notices.filter(({ severity }) => severity !== 'error'))).toBe(false)
  })
})

it.each([
  ['queued', false],
  ['running', false],
  ['published', true],
  ['failed', true],
])('a run that is %s has ended: %s', (state, expected) => {
  expect(isFinished({ state })).toBe(expected)
})

it.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.255.0.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['[::1]', true],
  ['[::2]', false],
  ['128.0.0.1', false],
  ['::2', false],
  ['localhost.example', false],
])('the host %s is this machine: %s', (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected)
})

it.each([
  [valueTypes.truth, 'true', true],
  [valueTypes.truth, 'True', undefined],
  [valueTypes.truth, '1', undefined],
  [valueTypes.flag, '1', true],
  [valueTypes.flag, 'FALSE', false],
  [valueTypes.yesNo, 'Yes', true],
  [valueTypes.yesNo, 'constructor', undefined],
  [valueTypes.id, '0', undefined],
  [valueTypes.count, '2147483648', undefined],
  [moneyOf(0, ''), '-0.00', '0.00'],
  [moneyOf(-1, ''), '0', undefined],
  [moneyOf(-1, ''), '-999999999999999.9990', '-999999999999999.9990'],
  [moneyOf(1, ''), '0.0001', undefined],
])('a value is read by %o from %s', ({ parse }, text, expected) => {
  expect(parse(text)).toBe(expected)
})

describe('tokens of operators', () => {
  const token = 'x'.repeat(16)
  const expected =
    'names and tokens such as ana:TOKEN, ana+import:TOKEN or ana+donors:TOKEN, separated by commas; tokens of at least 16 characters'

  it.each([
    [` ana:${token} , bo.b-1:${'y'.repeat(200)}`, ['ana', token, 'bo.b-1', 'y'.repeat(200)]],
    [`${'n'.repeat(40)}:${token}`, ['n'.repeat(40), token]],
    [`ana+import:${token}`, ['ana', token, 'import']],
    [`ana+import+donors:${token}`, ['ana', token, 'import', 'donors']],
    [`ana+donors+import:${token}`, ['ana', token, 'import', 'donors']],
  ])('are read from %s', (text, names) => {
    const read = parseOperatorTokens(text)
    const parts =
      'value' in read &&
      read.value.flatMap(({ name, token, mayImport, seesDonors }) => [
        ...[name, token],
        ...(mayImport ? ['import'] : []),
        ...(seesDonors ? ['donors'] : []),
      ])
    expect(parts).toEqual(names)
  })

  it.each([
    '',
    `ana:${'x'.repeat(15)}`,
    `ana:${'y'.repeat(201)}`,
    `${'n'.repeat(41)}:${token}`,
    `ana:${token},ana:${token}y`,
    `ana:${token},`,
    `a b:${token}`,
    `ana:${token} y`,
    `:${token}`,
    `ana+publish:${token}`,
    `ana+import+import:${token}`,
  ])('are not %j', (text) => {
    expect(parseOperatorTokens(text)).toEqual({ expected })
  })
})

describe("keys of donors' data", () => {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')

  it('are separated by commas or line ends, with or without padding', () => {
    const text = `\n a:${secret(1)},\n${'b'.repeat(40)}:${secret(2).replace('=', '')} ,`
    const read = parseDonorKeys(text)
    expect('value' in read && read.value.map(({ id, secret: bytes }) => [id, bytes[0], bytes.length])).toEqual([
      ['a', 1, 32],
      ['b'.repeat(40), 2, 32],
    ])
  })

  it.each([
    '',
    ' , ',
    'a',
    `a:${secret(1).slice(2)}`,
    `a:${secret(1)}x`,
    `xa:b:${secret(1)}`,
    `a:${secret(1)},a:${secret(2)}`,
    `${'b'.repeat(41)}:${secret(1)}`,
    `a:${secret(1)},b`,
  ])('are not %j', (text) => {
    expect(parseDonorKeys(text)).toEqual({ expected: expect.stringMatching(/^keys as ID:SECRET .*, no ID twice$/) })
  })
})

describe('an error', () => {
  it('has what it was given, and no cause of its own', () => {
    const error = new ServiceError('not-found', 'no project 7')
    expect(error).toMatchObject({ name: 'ServiceError', status: 404, problems: [], number: undefined })
    expect(Object.hasOwn(error, 'cause')).toBe(false)
    const cause = new Error('x')
    expect(new ServiceError('internal', 'x', { cause, number: 5, retryAfterSeconds: 7 })).toMatchObject({
      ...{ cause, number: 5, retryAfterSeconds: 7 },
    })
  })

  it('of wrong fields names all of them, without what came', () => {
    const problems = [
      { field: 'a', expected: 'a text', got: 'secret' },
      { field: 'b', expected: 'a number' },
    ]
    expect(invalidFields(problems)).toMatchObject({
      ...{ code: 'request-invalid', message: 'a: expected a text; b: expected a number', problems },
    })
    expect(problems.map(problemText)).toEqual(['a: expected a text', 'b: expected a number'])
  })
})

describe('a theme', () => {
  it.each([
    ['edu', 'edu', 'Education'],
    ['gender', 'Women and Girls', 'Gender Equality'],
    ['gender', 'Our own name', 'Our own name'],
    ['x', 'x', 'x'],
    ['x', 'Other', 'Other'],
  ])('%s that is new and called %s has the name %s', (id, stated, name) => {
    expect(firstThemeName(id, stated)).toBe(name)
  })
})

it('a country code before a card number does not make it a phone number', () => {
  expect(holdsCardNumber('+1 4222222222222')).toBe(true)
  expect(holdsCardNumber('+4222222222222')).toBe(false)
})

it('long work lets other work run once a turn has lasted 10 ms', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const yieldIfDue = createYielder()
  vi.advanceTimersByTime(9)
  expect(yieldIfDue()).toBeUndefined()
  vi.advanceTimersByTime(2)
  let other = false
  setImmediate(() => {
    other = true
  })
  const wait = yieldIfDue()
  expect(wait).toBeInstanceOf(Promise)
  await wait
  expect(other).toBe(true)
  expect(yieldIfDue()).toBeUndefined()
})
