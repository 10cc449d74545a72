import { newestEdition } from '../../iati/mapping/assumptions.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { demoReportingOrgRef, formerDemoRef, isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import { findConfirmedAssumptions } from '../../platform/database/confirmed-assumptions.js'
import { findFact } from '../../platform/database/facts.js'
import { earlierPublisherRefs } from '../../platform/database/publisher.js'
import type { Store } from '../../platform/database/store.js'
import type { Log } from '../../platform/observability/log.js'
import { baseUrlFields, resolveBaseUrl } from './listening.js'
import { publisherFields } from './publisher.js'
import type { Runtime } from './runtime.js'

export const mappingFields = [...publisherFields, 'contact', 'assumed', 'licence', ...baseUrlFields] as const

/** The configuration of the mapping with what the store adds, now. Throws as `resolveMapping`. */
export async function currentMapping(runtime: Runtime): Promise<MappingConfig> {
  return await withStored(await resolveMapping(runtime), runtime.store)
}

/** The same of a configuration that was read before. */
export async function withStored(config: MappingConfig, { db }: Store): Promise<MappingConfig> {
  const { edition = newestEdition } = (await findConfirmedAssumptions(db)) ?? {}
  return { ...config, edition, earlierRefs: await earlierPublisherRefs(db) }
}

/**
 * The configuration of the mapping. Throws `configuration-invalid` when REPORTING_ORG_REF is missing and the database was
 * given: identifiers are permanent, so a production store never publishes under the demo publisher.
 */
export async function resolveMapping(runtime: Runtime, log?: Log): Promise<MappingConfig> {
  const { config, store } = runtime
  const { ref, name, type } = config.reportingOrg
  if (ref === undefined) {
    const demo = !['removed', undefined].includes(await findFact(store.db, 'demo-seeded'))
    if (config.database.kind === 'given' && !demo) {
      const message = 'REPORTING_ORG_REF is not set: expected the IATI identifier of the publisher, got nothing'
      throw new ServiceError('configuration-invalid', message, {
        problems: [{ field: 'REPORTING_ORG_REF', expected: 'the IATI identifier of the publisher' }],
      })
    }
    if (!demo) log?.warn('REPORTING_ORG_REF is not set: publishing under the demo publisher, which is only for trials')
  }
  return {
    reportingOrg: { ref: ref === undefined || ref === formerDemoRef ? demoReportingOrgRef : ref, name, type },
    currency: config.currency,
    language: config.language,
    contact: config.contact,
    assumed: config.assumed,
    // Nobody owns invented data, so nobody can license it.
    ...(!isDemoPublisher(ref) && config.licence && { licence: config.licence }),
    baseUrl: await resolveBaseUrl(runtime),
  }
}
