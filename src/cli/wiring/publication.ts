import { moveDemo } from '../../demo/sql/demo.js'
import { ofExtensions } from '../../extensions.js'
import { newestEdition } from '../../iati/mapping/assumptions.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { demoReportingOrgRef, formerDemoRef, isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import { parseSigningKey } from '../../kernel/release-chain.js'
import { removeTestDonations } from '../../money/sql/test-donations.js'
import { findConfirmedAssumptions, recordAssumptions } from '../../platform/database/confirmed-assumptions.js'
import { findFact, lockFacts } from '../../platform/database/facts.js'
import { earlierPublisherRefs, findPublisher } from '../../platform/database/publisher.js'
import type { Store } from '../../platform/database/store.js'
import type { Log } from '../../platform/observability/log.js'
import { claimFolder } from '../../release/operate/folder-of-store.js'
import { recordPublisherOfRelease } from '../../release/operate/publisher-of-store.js'
import { adoptLiveRun } from '../../release/operate/restored-database.js'
import type { Publication } from '../../release/publication.js'
import { forgetIdentifiers } from '../../release/sql/published-identifiers.js'
import { sharedFolders } from './bucket.js'
import { anyFolderBecause, ownFolderRefusal } from './folder.js'
import { baseUrlFields, resolveBaseUrl } from './listening.js'
import { openOfficialSchema, schemaFields } from './official-schema.js'
import { publisherFields, publisherRefusal, refuseToPublish } from './publisher.js'
import type { Runtime } from './runtime.js'

export const mappingFields = [...publisherFields, 'contact', 'assumed', 'licence', ...baseUrlFields] as const

export const publicationFields = [...mappingFields, 'signing', ...schemaFields, 'publish'] as const

/** The work of publication as this runtime is configured, with the official schema when its files are there. */
export async function openPublication(runtime: Runtime): Promise<Publication> {
  const { config, store, feedsDir, clock, log } = runtime
  // Loaded here: processes that only ask for a publication do without its writers.
  const { createPublication } = await import('../../release/create-publication.js')
  const mappingConfig = await resolveMapping(runtime, log)
  if (isDemoPublisher(config.reportingOrg.ref)) {
    // A trial from before 1.1 is published anew.
    await forgetIdentifiers(store.db, [`${formerDemoRef}-`])
  } else {
    const removed = await store.transaction(removeTestDonations)
    if (removed > 0) log.warn({ removed }, 'donations of a sandbox were removed: they are not published as real ones')
  }
  await moveDemo(store, mappingConfig.baseUrl)
  const adopted = await adoptLiveRun({ store, feedsDir, clock })
  if (adopted !== undefined)
    log.warn({ runId: adopted }, 'the database is older than the live release: it was restored from a backup')
  await recordPublisherOfRelease({ store, feedsDir, clock })
  for (const stopped of [await publisherRefusal(runtime), await ownFolderRefusal(runtime)]) {
    if (stopped !== undefined) log.error(stopped)
  }
  const xsd = await openOfficialSchema(config)
  if (xsd) runtime.defer(async () => xsd.dispose())
  const signer = config.secrets.signingKey === undefined ? undefined : parseSigningKey(config.secrets.signingKey)
  const deps = {
    store,
    mappingConfig,
    feedsDir,
    keepReleases: config.publish.keepReleases,
    maxLossPercent: config.publish.maxLossPercent,
    addFiles: ofExtensions('addFiles'),
    clock,
    shared: sharedFolders(runtime),
    ...(xsd && { xsd }),
    ...(signer && 'value' in signer && { signer: signer.value }),
  }
  // An operator may have confirmed another identifier since this process started.
  const current = async () => createPublication({ ...deps, mappingConfig: await withStored(mappingConfig, store) })
  return {
    planShards: async (...args) => {
      await refuseToPublish(runtime)
      await confirmByVariable(runtime)
      return await (await current()).planShards(...args)
    },
    renderShard: async (...args) => await (await current()).renderShard(...args),
    publishRelease: async (...args) => {
      await refuseToPublish(runtime)
      if (anyFolderBecause(config) === undefined) await claimFolder(deps)
      const outcome = await (await current()).publishRelease(...args)
      if (outcome.state !== 'held') await recordPublisherOfRelease(deps)
      return outcome
    },
  }
}

/** Before the first release that is not a trial's, `FACTS_CONFIRMED` is a person's word. */
async function confirmByVariable({ config, store, clock }: Runtime): Promise<void> {
  if (!config.factsConfirmed || isDemoPublisher(config.reportingOrg.ref) || (await findPublisher(store.db))) return
  await store.transaction(async (db) => {
    await lockFacts(db)
    const known = await findConfirmedAssumptions(db)
    if (known?.by === undefined) await recordAssumptions(db, { edition: newestEdition, by: 'FACTS_CONFIRMED' }, clock())
  })
}

/** The configuration of the mapping with what the store adds, now. Throws as `resolveMapping`. */
export async function currentMapping(runtime: Runtime): Promise<MappingConfig> {
  return await withStored(await resolveMapping(runtime), runtime.store)
}

async function withStored(config: MappingConfig, { db }: Store): Promise<MappingConfig> {
  const { edition = newestEdition } = (await findConfirmedAssumptions(db)) ?? {}
  return { ...config, edition, earlierRefs: await earlierPublisherRefs(db) }
}

/**
 * The configuration of the mapping. Throws `configuration-invalid` when REPORTING_ORG_REF is missing and the database was
 * given: identifiers are permanent, so a production store never publishes under the demo publisher.
 */
async function resolveMapping(runtime: Runtime, log?: Log): Promise<MappingConfig> {
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
