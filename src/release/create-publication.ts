import { publishRelease } from './operate/publish-release.js'
import { stateChecked } from './operate/state-checked.js'
import type { Publication, PublicationDeps } from './publication.js'
import { planShards, renderShard } from './render/render-shard.js'

/** Wires the steps of a publication to their store, folder and configuration. */
export function createPublication(deps: PublicationDeps): Publication {
  return {
    planShards: (run, size = 1000) => planShards(deps, run, size),
    renderShard: (run, shard, options) => renderShard(deps, run, shard, options),
    publishRelease: async (run, options) => {
      const outcome = await publishRelease(deps, run, options)
      if (outcome.state !== 'held') await stateChecked(deps)
      for (const { build } of deps.beside) await build(deps, run, options)
      return outcome
    },
  }
}
