import { countDemoProjects } from '../../demo/sql/demo.js'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import type { ConfigOf } from '../../platform/config/config.js'
import { findFact } from '../../platform/database/facts.js'
import type { Store } from '../../platform/database/store.js'
import { createReleaseReader } from '../../release/read/release-reader.js'

type TrialRuntime = {
  readonly config: ConfigOf<'reportingOrg'>
  readonly store: Store
  readonly feedsDir: string
}

/** Throws `demo-data-present` when the store has demo projects and the publisher is a real one. */
export async function refuseDemoData({ config, store }: Omit<TrialRuntime, 'feedsDir'>): Promise<void> {
  const reason = await demoDataRefusal({ config, store })
  if (reason !== undefined) throw new ServiceError('demo-data-present', reason)
}

/**
 * Why the live release may not be told to others: under a real publisher, the store or the release has demo data.
 * Undefined: it may.
 */
export async function trialReleaseRefusal({ config, store, feedsDir }: TrialRuntime): Promise<string | undefined> {
  const { ref } = config.reportingOrg
  if (isDemoPublisher(ref)) return undefined
  const reason = await demoDataRefusal({ config, store })
  if (reason !== undefined) return reason
  const live = await createReleaseReader(feedsDir).live()
  if (live === undefined) return undefined
  if (isDemoPublisher(live.manifest.publisher.ref)) {
    return `the live release is of the trial publisher, and REPORTING_ORG_REF is ${ref}: giving reset-demo, then giving publish`
  }
  if ((await findFact(store.db, 'loss-accepted-from')) !== live.id) return undefined
  return 'the live release still has the demo data that was removed: giving publish'
}

/** Throws `demo-data-present` where the live release may not be told to others. */
export async function refuseTrialRelease(runtime: TrialRuntime): Promise<void> {
  const reason = await trialReleaseRefusal(runtime)
  if (reason !== undefined) throw new ServiceError('demo-data-present', reason)
}

async function demoDataRefusal({ config, store }: Omit<TrialRuntime, 'feedsDir'>): Promise<string | undefined> {
  const { ref } = config.reportingOrg
  if (isDemoPublisher(ref)) return undefined
  const projects = await countDemoProjects(store.db)
  if (projects === 0) return undefined
  return (
    `the store has ${projects} demo projects, which are invented, and REPORTING_ORG_REF is ${ref}: ` +
    'remove them with giving reset-demo'
  )
}
