import { hash } from 'node:crypto'
import { mappingVersion } from './mapping/activity.js'
import type { MappingConfig } from './mapping/mapping-config.js'

/** Names the mapping and its configuration; a rendering with another key is stale. */
export function inputKey(config: MappingConfig): string {
  const { reportingOrg, assumed, contact, earlierRefs = [], currency, language, baseUrl } = config
  const { ref, name, type } = reportingOrg
  const parts = [mappingVersion, ref, name, type, currency, language, baseUrl, contact, assumed, ...earlierRefs]
  return hash('sha256', JSON.stringify(parts)).slice(0, 16)
}
