import type { MappingConfig } from '../../src/iati/mapping/mapping-config.js'
import type { IsoDate } from '../../src/kernel/dates.js'
import type { CurrencyCode } from '../../src/kernel/money.js'

// The settings of every bench, with a fixed clock: the same rows always give the same files.

export const baseUrl = 'https://giving.example'
export const currency = 'USD' as CurrencyCode
/** Seeded money ends here. */
export const seededDay = '2026-11-20' as IsoDate
/** When the first run begins. */
export const firstRunAt = new Date('2026-11-21T02:00:00Z')

export const mappingConfig: MappingConfig = {
  reportingOrg: { ref: 'XM-DAC-0000000', name: 'Giving Example', type: '22' },
  assumed: { donors: 'Individual donors through {publisher}', partnerType: '22', documentCategory: 'A02' },
  currency,
  language: 'en',
  baseUrl,
}

/** Limits of the API that one load generator would reach are counted but raised; the others have their defaults. */
export const apiLimits = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  RATE_LIMIT_PER_ADDRESS: '1000000',
  DOWNLOAD_MEGABYTES_PER_SECOND: '100000',
} as const

/** The limits as a report prints them. */
export const describedLimits = Object.entries(apiLimits)
  .map(([name, value]) => `${name}=${value}`)
  .join(', ')
