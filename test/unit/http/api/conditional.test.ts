import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { isChanged, isUnchanged, validatorsOf, wantedRange } from '../../../../src/http/api/conditional.js'

const validators = validatorsOf({ sha256: 'a', lastModified: new Date('2026-10-02T08:00:00Z') })
const [before, same, after] = [1, 2, 3].map((day) => `0${day} Oct 2026 08:00:00 GMT`)

describe('a file', () => {
  it('has a tag for each of its encodings, and a date', () => {
    expect(validators).toEqual({
      identityTag: '"a"',
      gzipTag: '"a-gz"',
      lastModified: 'Fri, 02 Oct 2026 08:00:00 GMT',
    })
  })

  it.each<[IncomingHttpHeaders, boolean]>([
    [{}, false],
    [{ 'if-none-match': '"a"' }, true],
    [{ 'if-none-match': '"a-gz"' }, true],
    [{ 'if-none-match': 'W/"a"' }, true],
    [{ 'if-none-match': '"b", "a"' }, true],
    [{ 'if-none-match': ' * ' }, true],
    [{ 'if-none-match': '"b"' }, false],
    [{ 'if-none-match': '"b"', 'if-modified-since': after }, false],
    [{ 'if-modified-since': before }, false],
    [{ 'if-modified-since': same }, true],
    [{ 'if-modified-since': after, 'cache-control': 'no-cache' }, true],
    [{ 'if-modified-since': 'yesterday' }, false],
  ])('is unchanged for %o: %s', (headers, expected) => {
    expect(isUnchanged(headers, validators)).toBe(expected)
  })
})

describe('a copy that the client has a part of', () => {
  it.each<[IncomingHttpHeaders, boolean]>([
    [{}, false],
    [{ 'if-match': '"b", "a"' }, false],
    [{ 'if-match': ' * ' }, false],
    [{ 'if-match': '"b"' }, true],
    [{ 'if-match': 'W/"a"' }, true],
    [{ 'if-match': '"a"', 'if-unmodified-since': before }, false],
    [{ 'if-unmodified-since': before }, true],
    [{ 'if-unmodified-since': same }, false],
    [{ 'if-unmodified-since': 'yesterday' }, false],
  ])('is another file for %o: %s', (headers, expected) => {
    expect(isChanged(headers, validators.identityTag, validators.lastModified)).toBe(expected)
  })
})

describe('a range', () => {
  const part = { start: 2, end: 5 }

  it.each<[IncomingHttpHeaders, unknown]>([
    [{}, undefined],
    [{ range: 'bytes=2-5' }, part],
    [{ range: 'bytes=6-' }, { start: 6, end: 9 }],
    [{ range: 'bytes=6-500' }, { start: 6, end: 9 }],
    [{ range: 'bytes=-4' }, { start: 6, end: 9 }],
    [{ range: 'bytes=-10' }, { start: 0, end: 9 }],
    [{ range: 'bytes=-11' }, { start: 0, end: 9 }],
    [{ range: `bytes=-${'9'.repeat(40)}` }, { start: 0, end: 9 }],
    [{ range: 'bytes=-0' }, 'unsatisfiable'],
    [{ range: 'bytes=10-' }, 'unsatisfiable'],
    [{ range: 'lines=10-' }, undefined],
    [{ range: 'lines=2-5' }, undefined],
    [{ range: 'bytes=0-1,4-5' }, undefined],
    [{ range: 'bytes=a-b' }, undefined],
    [{ range: 'nonsense' }, undefined],
    [{ range: 'bytes=2-5', 'if-range': ' "a" ' }, part],
    [{ range: 'bytes=2-5', 'if-range': same }, part],
    [{ range: 'bytes=2-5', 'if-range': 'W/"a"' }, undefined],
    [{ range: 'bytes=2-5', 'if-range': '"a-gz"' }, undefined],
    [{ range: 'bytes=2-5', 'if-range': after }, undefined],
  ])('of ten bytes for %o is %j', (headers, expected) => {
    const range = wantedRange(headers, 10, validators)
    expect(typeof range === 'object' ? { ...range } : range).toEqual(expected)
  })

  it('is not given under two conditions', () => {
    const headers = { range: 'bytes=2-5', 'if-range': ['"a"', '"a"'] } as unknown as IncomingHttpHeaders
    expect(wantedRange(headers, 10, validators)).toBeUndefined()
  })
})
