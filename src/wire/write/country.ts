import type { Country } from '../../domain/project.js'
import { record, string, type WireRecord } from './wire.js'

/** A country; its code is a two-letter ISO 3166 code. */
export function countryRecord(country: Country): WireRecord {
  return record([
    ['name', string(country.name)],
    ['iso3166CountryCode', string(country.code)],
  ])
}
