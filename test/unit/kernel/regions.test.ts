import { expect, it } from 'vitest'
import { isActiveCode } from '../../../src/iati/standard/index.js'
import { regionOfCountry } from '../../../src/kernel/regions.js'

it('every country but uninhabited ones lies in one region', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const countries = letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => isActiveCode('Country', code))
  expect(countries.filter((code) => regionOfCountry(code) === undefined)).toEqual(['AQ', 'BV', 'HM'])
  expect(regionOfCountry('NP')).toBe('Asia and Oceania')
})
