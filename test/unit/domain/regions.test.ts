import { expect, it } from 'vitest'
import { regionOfCountry } from '../../../src/domain/regions.js'
import { isActiveCode } from '../../../src/standard/index.js'

it('every country but uninhabited ones lies in one region', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const countries = letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => isActiveCode('Country', code))
  expect(countries.filter((code) => regionOfCountry(code) === undefined)).toEqual(['AQ', 'BV', 'HM'])
  expect(regionOfCountry('NP')).toBe('Asia and Oceania')
})
