import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { absoluteUrl } from '../../../src/iati/absolute-url.js'

/** What parsing says, without the short cut. */
function parsed(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '' ? url.href : undefined
}

describe('an address', () => {
  it.each([
    ['https://giving.example/a b', 'https://giving.example/a%20b'],
    ['HTTPS://Giving.Example', 'https://giving.example/'],
    ['https://giving.example/a/../b', 'https://giving.example/b'],
    ['/relative', undefined],
    ['mailto:a@b.example', undefined],
    ['https://', undefined],
  ])('%j is %j', (text, expected) => {
    expect(absoluteUrl(text)).toBe(expected)
  })

  it('is the same with and without the short cut', () => {
    const part = fc.string({ unit: fc.constantFrom(...'aZ0.-_~%/?#&=+ :;@!$()*,\'"é|x'), maxLength: 12 })
    const host = fc.oneof(
      fc.domain(),
      fc.constantFrom('127.1', 'xn--a.example', 'a.b', '0x7f.com', 'a..b.com', '-a.com'),
    )
    const address = fc
      .tuple(fc.constantFrom('http://', 'https://', 'ftp://'), host, fc.constantFrom('', ':80', ':8080'), part)
      .map(([scheme, name, port, rest]) => `${scheme}${name}${port}/${rest}`)
    fc.assert(
      fc.property(fc.oneof(fc.webUrl({ withQueryParameters: true }), address), (text) => {
        expect(absoluteUrl(text)).toBe(parsed(text))
      }),
      { numRuns: 500 },
    )
  })
})
