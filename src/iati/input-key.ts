import { hash } from 'node:crypto'
import { mappingVersion } from './mapping/activity.js'
import type { MappingConfig } from './mapping/mapping-config.js'

/** Names the mapping and its configuration; a rendering with another key is stale. */
export function inputKey(config: MappingConfig): string {
  const { reportingOrg, assumed, contact, earlierRefs = [], currency, language, baseUrl, edition = 1 } = config
  const { ref, name, type } = reportingOrg
  const parts: unknown[] = [
    mappingVersion,
    ref,
    name,
    type,
    currency,
    language,
    baseUrl,
    contact,
    assumed,
    ...earlierRefs,
  ]
  // Renderings of the first edition have the key that they had before there were editions.
  if (edition > 1) parts.push({ edition })
  return hash('sha256', JSON.stringify(parts)).slice(0, 16)
}
