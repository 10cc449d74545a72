import { moveDemo } from '../../demo/sql/demo.js'
import { ofExtensions } from '../../extensions.js'
import { newestEdition } from '../../iati/mapping/assumptions.js'
import { formerDemoRef, isDemoPublisher } from '../../kernel/demo-publisher.js'
import { parseSigningKey } from '../../kernel/release-chain.js'
import { removeTestDonations } from '../../money/sql/test-donations.js'
import { findConfirmedAssumptions, recordAssumptions } from '../../platform/database/confirmed-assumptions.js'
import { lockFacts } from '../../platform/database/facts.js'
import { findPublisher } from '../../platform/database/publisher.js'
import { claimFolder } from '../../release/operate/folder-of-store.js'
import { recordPublisherOfRelease } from '../../release/operate/publisher-of-store.js'
import { adoptLiveRun } from '../../release/operate/restored-database.js'
import type { Publication } from '../../release/publication.js'
import { forgetIdentifiers } from '../../release/sql/published-identifiers.js'
import { anyFolderBecause, ownFolderRefusal } from './folder.js'
import { mappingFields, resolveMapping, withStored } from './mapping.js'
import { openOfficialSchema, schemaFields } from './official-schema.js'
import { withLessGarbage } from './process.js'
import { publisherRefusal, refuseToPublish } from './publisher.js'
import type { Runtime } from './runtime.js'
import { deliveryOf } from './shared-folders.js'

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
    beside: ofExtensions('beside'),
    clock,
    sparingly: withLessGarbage,
    shared: (await deliveryOf(runtime))?.shared,
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
