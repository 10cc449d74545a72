import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createIdentifierTable } from '../../../../src/iati/validation/identifier-table.js'

it('a table of identifiers says what a Map would say', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.oneof(fc.string(), fc.nat(500).map(String)), fc.nat(100_000))), (added) => {
      const table = createIdentifierTable()
      const map = new Map<string, number>()
      for (const [identifier, line] of added) {
        expect(table.has(identifier)).toBe(map.has(identifier))
        expect(table.add(identifier, line)).toBe(map.get(identifier))
        if (!map.has(identifier)) map.set(identifier, line)
      }
    }),
  )
})

it('a table of a hundred thousand much alike identifiers takes none for another', () => {
  const table = createIdentifierTable()
  const identifiers = Array.from({ length: 100_000 }, (_, index) => `US-EIN-123456789-${index}`)
  expect(identifiers.filter((identifier) => table.add(identifier, 1) !== undefined)).toEqual([])
  expect(identifiers.every((identifier) => table.add(identifier, 2) === 1)).toBe(true)
  expect(table.has('US-EIN-123456789-100000')).toBe(false)
})

it('a table knows an identifier whose line is not known', () => {
  const table = createIdentifierTable()
  expect(table.add('a', undefined)).toBeUndefined()
  expect(table.add('a', 7)).toBe(0)
})
