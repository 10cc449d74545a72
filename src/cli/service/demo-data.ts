import type { Command } from 'commander'
import { resetDemo } from '../../demo/sql/demo.js'
import { nextFreeId, seed } from '../../demo/sql/seed.js'
import { isoDateOf } from '../../kernel/dates.js'
import { recordFact } from '../../platform/database/facts.js'
import { withdrawBulkSet } from '../../release/bulk/bulk-reader.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { forgetIdentifiersOf } from '../../release/sql/published-identifiers.js'
import { addCommand, type CommandLine, jsonOption, wholeNumber } from '../command-line.js'
import type { Output } from '../output.js'
import { baseUrlFields, resolveBaseUrl } from '../wiring/listening.js'
import { demoReportingOrgRef } from '../wiring/publication.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving seed` and `giving reset-demo`. */
export function registerDemoData(program: Command, { storeAction }: CommandLine): void {
  program
    .command('seed')
    .description('put invented, plausible projects into the store')
    .requiredOption('--projects <number>', 'how many', wholeNumber)
    .option(...jsonOption)
    .action(storeAction(['currency', ...baseUrlFields], seedProjects))
  addCommand(program, 'reset-demo', 'remove demo data and everything published from it').action(
    storeAction([], removeDemo),
  )
}

/** Writes deterministic, invented data after the highest id in use. */
async function seedProjects(
  runtime: Runtime<'currency' | (typeof baseUrlFields)[number]>,
  output: Output,
  { projects }: { projects: number },
): Promise<number> {
  const firstId = await nextFreeId(runtime.store.db)
  const baseUrl = await resolveBaseUrl(runtime)
  await output.withProgress((update) =>
    seed(runtime.store, {
      projects,
      source: 'local',
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

/** Removes demo data and everything that was published under the demo publisher. */
async function removeDemo({ store, clock, feedsDir }: Runtime, output: Output): Promise<number> {
  const { db } = store
  const removed = await resetDemo(store)
  const identifiers = await forgetIdentifiersOf(db, demoReportingOrgRef)
  await recordFact(db, 'demo-seeded', 'removed', clock())
  await withdrawBulkSet(feedsDir)
  const live = await createReleaseReader(feedsDir).live()
  if (live) await recordFact(db, 'loss-accepted-from', live.id, clock())
  return output.result(
    { ...removed, identifiers },
    () =>
      `removed ${removed.projects} demo projects and ${removed.organisations} organisations; ` +
      'the next publication leaves them out',
  )
}
