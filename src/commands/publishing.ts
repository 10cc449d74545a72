import { createPublication } from '../publishing/create-publication.js'
import type { Publication } from '../publishing/publication.js'
import { adoptLiveRun } from '../publishing/release/restored-database.js'
import { type Runtime, resolveMapping } from './runtime.js'
import { openOfficialSchema } from './standard.js'

/**
 * The work of publication as this runtime is configured, with the official schema when its files are there. Dispose of
 * the validator when done.
 */
export async function openPublication(
  runtime: Runtime,
): Promise<{ readonly publication: Publication; dispose(): Promise<void> }> {
  const { config, store, feedsDir, clock, log } = runtime
  const mapping = await resolveMapping(runtime)
  const adopted = await adoptLiveRun({ store, feedsDir })
  if (adopted !== undefined)
    log.warn({ runId: adopted }, 'the database is older than the live release: it was restored')
  const xsd = await openOfficialSchema(config)
  const publication = createPublication({
    store,
    mapping,
    feedsDir,
    keepReleases: config.publish.keepReleases,
    maxLossPercent: config.publish.maxLossPercent,
    clock,
    ...(xsd && { xsd }),
  })
  return { publication, dispose: async () => xsd?.dispose() }
}
