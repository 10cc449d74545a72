import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { contentFormat, responseFormat, rewriteApiUrl } from '../../../../src/http/api/negotiation.js'

const request = (url: string, headers: Record<string, string> = {}) => {
  const raw = { url, headers } as unknown as IncomingMessage
  return { raw, headers, routed: rewriteApiUrl(raw) }
}
const format = (headers: Record<string, string>, url = '/api/x') => responseFormat(request(url, headers))
const jsonBody = { 'content-type': 'application/json;charset=UTF-8', 'content-length': '2' }

describe('the format of an answer', () => {
  it.each([
    ['nothing is said', {}, 'xml'],
    ['anything goes', { accept: '*/*' }, 'xml'],
    ['Accept is empty', { accept: '' }, 'xml'],
    ['XML is asked for', { accept: 'application/xml' }, 'xml'],
    ['JSON is asked for', { accept: 'application/json' }, 'json'],
    ['axios asks', { accept: 'application/json, text/plain, */*' }, 'json'],
    ['jQuery asks', { accept: 'application/json, text/javascript, */*; q=0.01' }, 'json'],
    ['a browser asks', { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }, 'xml'],
    ['JSON has the higher quality', { accept: 'application/xml;q=0.5, application/json;q=0.9' }, 'json'],
    ['JSON comes first', { accept: 'application/json, application/xml' }, 'json'],
    ['XML comes first', { accept: 'application/xml, application/json' }, 'xml'],
    ['JSON is refused', { accept: 'application/json;q=0, */*' }, 'xml'],
    ['XML is refused', { accept: 'application/xml;q=0, text/xml;q=0, */*' }, 'json'],
    ['XML is refused by its usual name', { accept: 'application/xml;q=0, */*' }, 'json'],
    ['JSON is refused by its usual name', { ...jsonBody, accept: 'application/JSON; q=0, */*;q=0.1' }, 'xml'],
    ['XML is refused by one name and asked for by the other', { accept: 'application/xml;q=0, text/xml, */*' }, 'xml'],
    ['any text is accepted', { ...jsonBody, accept: 'text/*' }, 'json'],
    ['only HTML is accepted', { accept: 'text/html' }, 'xml'],
    ['Accept is nonsense', { accept: ';;,/' }, 'xml'],
    ['JSON is asked for with a charset', { accept: 'application/json; charset=utf-8' }, 'json'],
    [
      'JSON is asked for with parameters and weights',
      { accept: 'text/xml ; v="1,2"; q=0.4,application/json;v=1' },
      'json',
    ],
    [
      'XML with a charset weighs more',
      { accept: 'application/json; q=0.5, application/xml;charset=utf-8; q=0.9' },
      'xml',
    ],
    ['JSON is asked for by an old name', { accept: 'text/json' }, 'json'],
    ['the body is JSON and nothing is said', { ...jsonBody }, 'json'],
    ['the body is JSON and anything goes', { ...jsonBody, accept: '*/*' }, 'json'],
    ['the body is JSON and XML is asked for', { ...jsonBody, accept: 'text/xml' }, 'xml'],
    ['the body is JSON and only HTML is accepted', { ...jsonBody, accept: 'text/html' }, 'xml'],
    ['the body is JSON and Accept is empty', { ...jsonBody, accept: '' }, 'json'],
    ['the body is JSON and Accept is blank', { ...jsonBody, accept: ' ' }, 'json'],
    [
      'the body is JSON in chunks',
      { 'content-type': 'application/json ; charset=utf-8', 'transfer-encoding': 'chunked' },
      'json',
    ],
    ['the body is text', { 'content-type': 'text/plain', 'content-length': '2' }, 'xml'],
    ['the body says nothing', { 'content-length': '2' }, 'xml'],
    ['JSON is asked for with a parameter like a weight', { accept: 'application/json;quality=1' }, 'json'],
    ['JSON is asked for with a parameter without value', { accept: 'application/json;v' }, 'json'],
    ['JSON is asked for with a quoted parameter', { accept: 'application/json;v="a;b, c"' }, 'json'],
    ['a request without a body has a Content-Type', { 'content-type': 'application/json' }, 'xml'],
  ])('when %s', (_case, headers, expected) => {
    expect(format(headers as Record<string, string>)).toBe(expected)
  })

  it('is that of a type beside XML, until that is refused', () => {
    const atom = ['application/atom+xml']
    const of = (accept: string) => responseFormat(request('/api/x', { accept }), atom)
    expect(of('application/atom+xml, application/json;q=0.5')).toBe('xml')
    expect(of('application/xml;q=0, */*')).toBe('xml')
    expect(of('application/atom+xml;q=0, */*')).toBe('json')
    expect(of('application/atom+xml;q=0, application/xml')).toBe('xml')
  })

  it('is the path suffix when there is one, whatever Accept says', () => {
    expect(format({ accept: 'application/xml' }, '/api/x.json?api_key=1')).toBe('json')
    expect(format({ accept: 'application/json' }, '/api/x.xml')).toBe('xml')
  })
})

describe('the format of a body', () => {
  it.each([
    ['application/json', 'json'],
    [' Application/JSON ; charset=utf-8', 'json'],
    ['application/xml', 'xml'],
    ['text/xml;charset=utf-8', 'xml'],
    ['text/json', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('of the type %j is %j', (type, expected) => {
    expect(contentFormat({ 'content-type': type })).toBe(expected)
  })
})

describe('the routed URL', () => {
  it.each([
    ['/api/a/b.json?x=1', '/api/a/b?x=1'],
    ['/api/a/b.xml', '/api/a/b'],
    ['/api/a/b/', '/api/a/b'],
    ['/api/a/b//?x=/', '/api/a/b?x=/'],
    ['/api/a/b.json/', '/api/a/b'],
    ['/api/a/b.json.json', '/api/a/b.json'],
    ['/api/a?f=b.json', '/api/a?f=b.json'],
    ['/api/a/B.JSON?x=1', '/api/a/B?x=1'],
    ['//api/a', '/api/a'],
    ['/api//a///b/?x=//', '/api/a/b?x=//'],
    ['//elsewhere/api/', '//elsewhere/api/'],
    ['http://example.org/api/a.json', '/api/a'],
    ['http://example.org/api/a/', '/api/a'],
    ['HTTPS://example.org/api/a?b', '/api/a?b'],
    ['http://example.org', '/'],
    ['see:http://example.org/api/a', 'see:http://example.org/api/a'],
    ['/api/.json', '/api'],
    ['/iati/activities.xml', '/iati/activities.xml'],
    ['/feeds/', '/feeds/'],
    ['/', '/'],
  ])('of %s is %s', (url, routed) => {
    expect(request(url).routed).toBe(routed)
  })

  it('is the root where a request has none', () => {
    expect(rewriteApiUrl({} as IncomingMessage)).toBe('/')
  })

  it.each([
    ['/countries/#%', '/countries/'],
    ['/api/public/projects.json#.xml', '/api/public/projects'],
    ['/api/x?q=a#b', '/api/x?q=a'],
    ['http://giving.example#/x', '/'],
    ['#', '/'],
  ])('leaves the fragment of %s out, as the router does', (url, routed) => {
    expect(rewriteApiUrl({ url } as IncomingMessage)).toBe(routed)
  })
})
