import type { Config } from '../config/config.js'
import type { MappingConfig } from '../feeds/iati/mapping.js'
import { createPublication } from '../publishing/create-publication.js'
import type { Publication } from '../publishing/publication.js'
import { openRenderThreads, type RenderThreads } from '../publishing/render-threads.js'
import { adoptLiveRun } from '../publishing/restored-database.js'
import { type Runtime, resolveMapping } from './runtime.js'
import { officialDirectory, schemaMissing } from './standard.js'

/**
 * The work of publication as this runtime is configured, with the official schema when its files are there. Dispose of
 * its threads when done.
 */
export async function openPublication(
  runtime: Runtime,
): Promise<{ readonly publication: Publication; dispose(): Promise<void> }> {
  const { config, store, feedsDir, clock, log } = runtime
  const mapping = await resolveMapping(runtime)
  const adopted = await adoptLiveRun({ store, feedsDir })
  if (adopted !== undefined)
    log.warn({ runId: adopted }, 'the database is older than the live release: it was restored')
  const renderer = await openRenderer(config, mapping)
  const publication = createPublication({
    store,
    mapping,
    renderer,
    feedsDir,
    keepReleases: config.publish.keepReleases,
    maxLossPercent: config.publish.maxLossPercent,
    clock,
  })
  return { publication, dispose: () => renderer.close() }
}

/** Throws `standard-missing` when the official schema should be there and is not. */
async function openRenderer(config: Config, mapping: MappingConfig): Promise<RenderThreads> {
  const standardDir = officialDirectory(config)
  const renderer = await openRenderThreads({ mapping, standardDir, threads: config.publish.renderThreads })
  if (standardDir === undefined || renderer.schemaVersion !== undefined) return renderer
  await renderer.close()
  throw schemaMissing(config, standardDir)
}
