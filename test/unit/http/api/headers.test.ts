import { describe, expect, it } from 'vitest'
import { loggableUrl } from '../../../../src/http/api/access-log.js'
import { preferredEncoding } from '../../../../src/http/api/encoding.js'

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
