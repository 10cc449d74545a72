import { hash } from 'node:crypto'
import { mappingVersion } from './mapping/activity.js'
import type { MappingConfig } from './mapping/mapping-config.js'

/** Names the mapping and its configuration; a rendering with another key is stale. */
export function inputKey(config: MappingConfig): string {
  const { reportingOrg, currency, language, baseUrl } = config
  const parts = [mappingVersion, reportingOrg.ref, reportingOrg.name, reportingOrg.type, currency, language, baseUrl]
  return hash('sha256', JSON.stringify(parts)).slice(0, 16)
}
