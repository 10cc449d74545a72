import { describe, expect, it } from 'vitest'
import { loggableUrl } from '../../../../src/http/api/access-log.js'
import { isUnchanged, validatorsOf, wantedRange } from '../../../../src/http/api/conditional.js'
import { preferredEncoding } from '../../../../src/http/api/encoding.js'

const validators = validatorsOf({ sha256: 'abc', lastModified: new Date('2026-11-21T02:00:00Z') })

describe('the encoding of a file', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'gzip'],
    ['*', 'gzip'],
    ['br', 'identity'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0, *', 'identity'],
    ['gzip;q=0.5, identity;q=0.8', 'identity'],
    ['gzip;q=0.8, identity;q=0.5', 'gzip'],
    ['identity', 'identity'],
    ['identity;q=0', 'gzip'],
    ['identity;q=0, gzip', 'gzip'],
    ['identity;q=0, gzip;q=0.0', 'identity'],
    ['*;q=0', 'identity'],
  ])('for Accept-Encoding %j is %s', (header, expected) => {
    expect(preferredEncoding(header)).toBe(expected)
  })
})

describe('a conditional request', () => {
  it.each([
    ['the identity tag', { 'if-none-match': '"abc"' }, true],
    ['the gzip tag', { 'if-none-match': '"abc-gz"' }, true],
    ['a weak tag', { 'if-none-match': 'W/"abc-gz"' }, true],
    ['a list with the tag', { 'if-none-match': '"x", "abc" , "y"' }, true],
    ['a star', { 'if-none-match': '*' }, true],
    ['another tag', { 'if-none-match': '"abcd"' }, false],
    [
      'another tag and a date that would hold',
      { 'if-none-match': '"x"', 'if-modified-since': validators.lastModified },
      false,
    ],
    ['the date itself', { 'if-modified-since': 'Sat, 21 Nov 2026 02:00:00 GMT' }, true],
    ['a later date', { 'if-modified-since': 'Sun, 22 Nov 2026 02:00:00 GMT' }, true],
    ['an earlier date', { 'if-modified-since': 'Fri, 20 Nov 2026 02:00:00 GMT' }, false],
    ['a date that is none', { 'if-modified-since': 'yesterday' }, false],
    ['the tag and no-cache', { 'if-none-match': '"abc"', 'cache-control': 'no-cache' }, true],
    ['nothing', {}, false],
  ])('with %s', (_what, headers, unchanged) => {
    expect(isUnchanged(headers, validators)).toBe(unchanged)
  })
})

describe('a range request for 100 bytes', () => {
  it.each([
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=90-500', { start: 90, end: 99 }],
    ['bytes=-5', { start: 95, end: 99 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=0-1,5-6', undefined],
    ['bytes=a-b', undefined],
    ['lines=0-1', undefined],
    ['lines=900-', undefined],
    ['nonsense', undefined],
  ])('of %s', (range, wanted) => {
    expect(wantedRange({ range }, 100, validators)).toEqual(wanted)
  })

  it.each([
    ['"abc"', true],
    ['Sat, 21 Nov 2026 02:00:00 GMT', true],
    ['W/"abc"', false],
    ['"abc-gz"', false],
    ['Sun, 22 Nov 2026 02:00:00 GMT', false],
  ])('with If-Range %s', (ifRange, holds) => {
    expect(wantedRange({ range: 'bytes=0-0', 'if-range': ifRange }, 100, validators) !== undefined).toBe(holds)
  })
})

describe('a logged URL', () => {
  it.each([
    ['/api/a?api_key=secret&nextProjectId=5', '/api/a?api_key=[redacted]&nextProjectId=5'],
    ['/api/a?api%5Fkey=secret', '/api/a?api%5Fkey=[redacted]'],
    ['/api/a?api_token=a=b', '/api/a?api_token=[redacted]'],
    ['/api/a?API_KEY=secret', '/api/a?API_KEY=[redacted]'],
    ['/api/a?secret', '/api/a?[redacted]'],
    ['/iati/activities.xml', '/iati/activities.xml'],
    ['/api/a?q=4111111111111111&limit=5', '/api/a?q=[number]&limit=5'],
    ['/api/a?q=4111+1111%201111-1111', '/api/a?q=[number]'],
    ['/api/4111111111111111', '/api/[number]'],
    ['/api/a?modifiedSince=2026-11-21T09:15:30.412Z', '/api/a?modifiedSince=2026-11-21T09:15:30.412Z'],
    ['/api/a?projectIds=1,2,3,4,5,6,7,8,9,10', '/api/a?projectIds=1,2,3,4,5,6,7,8,9,10'],
  ])('of %s', (url, logged) => {
    expect(loggableUrl(url)).toBe(logged)
  })
})
