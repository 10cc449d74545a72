import { describe, expect, it } from 'vitest'
import { expectedBrandColours, parseBrandColours } from '../../../src/kernel/brand-colours.js'
import { contrastOf, lightenedTo, parseColour } from '../../../src/kernel/contrast.js'

describe('the contrast of two colours', () => {
  // Of the examples in WCAG 2.2 and its understanding documents.
  it.each([
    ['#000000', '#ffffff', '21.00'],
    ['#ffffff', '#ffffff', '1.00'],
    ['#777777', '#ffffff', '4.48'],
    ['#595959', '#ffffff', '7.00'],
    ['#ff0000', '#ffffff', '4.00'],
  ] as const)('of %s and %s is %s, in either order', (one, other, contrast) => {
    expect([contrastOf(one, other), contrastOf(other, one)].map((found) => found.toFixed(2))).toEqual([
      contrast,
      contrast,
    ])
  })

  it('grows with white until it is enough, and by no more', () => {
    expect(lightenedTo(7, '#08565a', '#192326')).toMatch(/^#[0-9a-f]{6}$/)
    for (const colour of ['#08565a', '#7a1f4b', '#000000', '#14375e'] as const) {
      const light = lightenedTo(7, colour, '#192326')
      expect([colour, contrastOf(light, '#192326')]).toEqual([
        colour,
        expect.toSatisfy((found) => found >= 7 && found < 9),
      ])
    }
    expect(lightenedTo(7, '#ffffff', '#000000')).toBe('#ffffff')
  })

  it('is of colours that are written whole', () => {
    expect(parseColour('#0B4648')).toBe('#0b4648')
    for (const bad of ['0b4648', '#0b464', '#0b46481', '#0b464g', 'red', ''])
      expect(parseColour(bad), bad).toBeUndefined()
  })
})

describe('the colours of a platform', () => {
  it('are taken when everybody can read them', () => {
    expect(parseBrandColours('#0b4648, #08565a')).toEqual({ head: '#0b4648', link: '#08565a' })
  })

  it.each(['#0b4648', '#0b4648,#08565a,#000000', '#ffcc00,#08565a', '#0b4648,#ffcc00', '#0b4648,#76767', 'red,blue'])(
    'are refused otherwise: %s',
    (text) => expect(parseBrandColours(text)).toBeUndefined(),
  )

  it('say which contrast they lack', () => {
    expect(expectedBrandColours('#ffcc00,#08565a')).toMatch(/at least 7 \(these have 1\.\d and 8\.1\)$/)
    expect(expectedBrandColours('red')).toMatch(/at least 7$/)
  })
})
