import type { Country } from '../../../kernel/project.js'
import { object, string, type WireObject } from './wire-value.js'

/** A country; its code is a two-letter ISO 3166 code. */
export function countryRecord(country: Country): WireObject {
  return object([
    ['name', string(country.name)],
    ['iso3166CountryCode', string(country.code)],
  ])
}
