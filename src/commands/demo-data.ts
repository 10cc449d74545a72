import type { Command } from 'commander'
import type { Environment } from '../config/config.js'
import { isoDateOf } from '../domain/dates.js'
import { createReleaseReader } from '../publishing/release/read/release-reader.js'
import { recordFact } from '../store/database/facts.js'
import { forgetIdentifiersOf } from '../store/publication/published-identifiers.js'
import { resetDemo } from '../store/seeding/demo.js'
import { nextFreeId, seed } from '../store/seeding/seed.js'
import { type CommandLine, jsonOption, wholeNumber } from './command-line.js'
import type { Output } from './output.js'
import { baseUrlFields, resolveBaseUrl } from './wiring/base-url.js'
import { demoReportingOrgRef } from './wiring/publication.js'
import { openRuntime } from './wiring/runtime.js'

/** `giving seed` and `giving reset-demo`. */
export function registerDemoData(program: Command, { environment, signal, action }: CommandLine): void {
  program
    .command('seed')
    .description('put invented, plausible projects into the store')
    .requiredOption('--projects <number>', 'how many', wholeNumber)
    .option(...jsonOption)
    .action(
      action((output, { projects }: { projects: number }) => seedCommand(environment, { projects, signal }, output)),
    )
  program
    .command('reset-demo')
    .description('remove demo data and everything published from it')
    .option(...jsonOption)
    .action(action((output) => resetDemoCommand(environment, output)))
}

/** `giving seed --projects N`: deterministic, invented data after the highest id in use. */
export async function seedCommand(
  environment: Environment,
  { projects, signal }: { readonly projects: number; readonly signal: AbortSignal },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment, ['currency', ...baseUrlFields])
  const progress = output.progress()
  const firstId = await nextFreeId(runtime.store.db)
  try {
    await seed(runtime.store, {
      projects,
      source: 'local',
      today: isoDateOf(runtime.clock()),
      currency: runtime.config.currency,
      baseUrl: await resolveBaseUrl(runtime),
      firstId,
      signal,
      onProgress: (done, total) => progress.update('projects', done, total),
    })
  } finally {
    progress.stop()
  }
  output.result({ projects, firstId }, () => `${projects} projects seeded, ids from ${firstId}`)
  return 0
}

/** `giving reset-demo`: removes demo data and everything that was published under the demo publisher. */
export async function resetDemoCommand(environment: Environment, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { db } = runtime.store
  const removed = await resetDemo(runtime.store)
  const identifiers = await forgetIdentifiersOf(db, demoReportingOrgRef)
  await recordFact(db, 'demo-seeded', 'removed', runtime.clock())
  const live = await createReleaseReader(runtime.feedsDir).live()
  if (live) await recordFact(db, 'loss-accepted-from', live.id, runtime.clock())
  output.result(
    { ...removed, identifiers },
    () =>
      `removed ${removed.projects} demo projects and ${removed.organisations} organisations; ` +
      'the next publication leaves them out',
  )
  return 0
}
