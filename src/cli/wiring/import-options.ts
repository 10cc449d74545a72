import type { ImportOptions } from '../../catalogue/import/import.js'
import type { Config } from '../../platform/config/config.js'

export const importFields = ['currency', 'reportingOrg', 'publish'] as const

/** What imports know of the platform. */
export function importOptionsOf({
  currency,
  publish,
  reportingOrg: { ref, name, type },
}: Config): Pick<ImportOptions, 'currency' | 'zone' | 'publisherRef' | 'publisherName' | 'publisherType'> {
  return { currency, zone: publish.timezone, publisherRef: ref, publisherName: name, publisherType: type }
}
