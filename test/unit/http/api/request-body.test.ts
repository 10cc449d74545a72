import type { FastifyRequest } from 'fastify'
import { describe, expect, it } from 'vitest'
import { readBody } from '../../../../src/http/api/request-body.js'

const read = (text: string | Buffer) =>
  readBody({ body: Buffer.from(text), headers: { 'content-type': 'application/json' } } as FastifyRequest, 'root')
const nested = (levels: number) => `{"root":${'['.repeat(levels)}1${']'.repeat(levels)}}`
const members = (count: number) => `{"root":{${Array.from({ length: count }, (_, at) => `"m${at}":1`)}}}`

describe('a request body in JSON', () => {
  it('has the values that JSON.parse gives, also texts that no database can store', () => {
    expect(read('\ufeff{"root":{"a":"b\\u0000\\ud800","n":-1.50,"n":1e3},"x":1}')).toEqual({
      a: 'b\u0000\ud800',
      n: 1000,
    })
  })

  it('has few members and levels', () => {
    expect(read(nested(15))).toBeDefined()
    expect(() => read(nested(16))).toThrow('at most 16 levels of nesting')
    expect(() => read(nested(30_000))).toThrow('at most 16 levels of nesting')
    expect(read(members(999))).toBeDefined()
    expect(() => read(members(1_000))).toThrow('at most 1000 elements')
  })

  it('is refused when it is not JSON in UTF-8, has another root or a member named __proto__', () => {
    for (const text of ['{"root":', '[1]', '"root"', 'null', Buffer.from([0x7b, 0xff])]) {
      expect(() => read(text)).toThrow(expect.objectContaining({ code: 'request-malformed' }))
    }
    expect(() => read('{"root":{"a":[{"__proto__":{}}]}}')).toThrow('__proto__')
  })
})
