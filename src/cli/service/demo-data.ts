import type { Command } from 'commander'
import { countDemoProjects, hasOwnProjects, resetDemo } from '../../demo/sql/demo.js'
import { nextFreeId, seed } from '../../demo/sql/seed.js'
import { ofExtensions } from '../../extensions.js'
import { isoDateOf } from '../../kernel/dates.js'
import { demoIdentifierPrefixes, isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import { findFact, recordFact } from '../../platform/database/facts.js'
import { findPublisher } from '../../platform/database/publisher.js'
import { withdrawLiveRelease } from '../../release/operate/operate-releases.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { forgetIdentifiers } from '../../release/sql/published-identifiers.js'
import { addCommand, addLongCommand, type CommandLine, wholeNumber } from '../command-line.js'
import type { Output } from '../output.js'
import { baseUrlFields, resolveBaseUrl } from '../wiring/listening.js'
import { requestPublication } from '../wiring/operator-actions.js'
import type { Runtime } from '../wiring/runtime.js'
import { deliveryOf } from '../wiring/shared-folders.js'

/** `giving seed` and `giving reset-demo`. */
export function registerDemoData(program: Command, { storeAction }: CommandLine): void {
  addLongCommand(program, 'seed', 'put invented, plausible projects into the store')
    .requiredOption('--projects <number>', 'how many projects', wholeNumber)
    .action(storeAction(['reportingOrg', 'currency', ...baseUrlFields], seedProjects))
  addCommand(program, 'reset-demo', 'remove demo data and everything published from it').action(
    storeAction(['reportingOrg', 'bucket', 'publish'], removeDemo),
  )
}

/** Writes deterministic, invented data after the highest id in use. Throws `demo-data-refused` under a real publisher. */
async function seedProjects(runtime: Runtime, output: Output, { projects }: { projects: number }): Promise<number> {
  const { ref } = runtime.config.reportingOrg
  if (!isDemoPublisher(ref)) {
    const instead = 'leave it unset, or set a trial identifier such as XE-EXAMPLE-OURS, in a store of its own'
    throw new ServiceError(
      'demo-data-refused',
      `invented projects are only for trials, and REPORTING_ORG_REF is ${ref}: ${instead}`,
    )
  }
  const recorded = await findPublisher(runtime.store.db)
  if (recorded) {
    const message = `invented projects are only for trials, and this store publishes as ${recorded.ref}`
    throw new ServiceError('demo-data-refused', message)
  }
  const firstId = await nextFreeId(runtime.store.db)
  const baseUrl = await resolveBaseUrl(runtime)
  await output.withProgress((update) =>
    seed(runtime.store, {
      projects,
      source: 'demo',
      today: isoDateOf(runtime.clock()),
      currency: runtime.config.currency,
      baseUrl,
      firstId,
      signal: runtime.signal,
      onProgress: (done, total) => update('projects', done, total),
    }),
  )
  return output.result({ projects, firstId }, () => `${projects} projects seeded, ids from ${firstId}`)
}

/**
 * Removes demo data and everything that was published under the demo publisher. Under a real publisher, a live release of
 * the demo publisher is withdrawn, also from the bucket; so is any live release when no project is left to publish. Otherwise
 * a publication is entered that replaces the live release and may lose every demo activity.
 */
async function removeDemo(runtime: Runtime, output: Output): Promise<number> {
  const { config, store, clock, feedsDir } = runtime
  const { db } = store
  const delivery = await deliveryOf(runtime, 'person')
  const shared = delivery?.shared
  await shared?.releases.follow()
  const live = await createReleaseReader(feedsDir).live()
  const isTrial = isDemoPublisher(config.reportingOrg.ref)
  const isDemoLive = live !== undefined && isDemoPublisher(live.manifest.publisher.ref)
  const wasLost = live !== undefined && (await findFact(db, 'loss-accepted-from')) === live.id
  const lost = isTrial || isDemoLive || wasLost || (await countDemoProjects(db)) > 0
  const isWithdrawn = live !== undefined && !isTrial && lost && (isDemoLive || !(await hasOwnProjects(db)))
  // This comes before the removal: after a crash in between, the operator repeats the command.
  if (live && lost) await recordFact(db, 'loss-accepted-from', live.id, clock())
  if (isWithdrawn) await delivery?.withdraw()
  const removed = await resetDemo(store)
  const identifiers = await forgetIdentifiers(db, demoIdentifierPrefixes)
  await recordFact(db, 'demo-seeded', 'removed', clock())
  for (const { withdraw } of ofExtensions('beside')) await withdraw({ store, feedsDir, shared })
  if (isWithdrawn) await withdrawLiveRelease({ store, feedsDir, shared })
  const run = live && !isTrial && lost && !isWithdrawn ? await requestPublication(runtime, { force: false }) : undefined
  const left =
    run === undefined ? 'the next publication leaves them out' : `run ${run} is entered, which leaves them out`
  return output.result(
    { ...removed, identifiers, ...(isWithdrawn && { withdrawn: live.id }), ...(run !== undefined && { run }) },
    () =>
      `removed ${removed.projects} demo projects and ${removed.organisations} organisations; ` +
      (isWithdrawn
        ? `release ${live.id} is withdrawn: publish your projects with giving publish; what is registered stays until giving registry unregister`
        : left),
  )
}
