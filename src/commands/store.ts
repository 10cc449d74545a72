import type { Environment } from '../config/config.js'
import { isoDateOf } from '../domain/dates.js'
import { createReleaseReader } from '../publishing/release/releases.js'
import { recordFact } from '../store/database/facts.js'
import { withdrawIdentifiersOf } from '../store/publication/published-identifiers.js'
import { migrate, pendingMigrations } from '../store/schema/migrate.js'
import { nextFreeId, resetDemo, seed } from '../store/seeding/seed.js'
import { type Output, progressDisplay } from './output.js'
import { demoReportingOrgRef, openRuntime, resolveBaseUrl } from './runtime.js'

/** `giving migrate`: brings the schema up to date; with `check` only tells what is pending (exit code 1 if anything is). */
export async function migrateCommand(
  environment: Environment,
  options: { readonly check: boolean },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment, { migrate: false })
  if (options.check) {
    const pending = await pendingMigrations(runtime.store.db)
    output.line(output.json ? JSON.stringify({ pending }) : `pending: ${pending.join(', ') || 'none'}`)
    return pending.length > 0 ? 1 : 0
  }
  const result = await migrate(runtime.store)
  const applied = result.applied.join(', ') || 'nothing to do'
  output.line(output.json ? JSON.stringify(result) : `schema ${result.version}: ${applied}`)
  return 0
}

/** `giving seed --projects N`: deterministic, invented data after the highest id in use. */
export async function seedCommand(
  environment: Environment,
  options: { readonly projects: number; readonly signal: AbortSignal },
  output: Output,
): Promise<number> {
  await using runtime = await openRuntime(environment)
  const progress = progressDisplay(output)
  const firstId = await nextFreeId(runtime.store.db)
  try {
    await seed(runtime.store, {
      projects: options.projects,
      source: 'local',
      today: isoDateOf(runtime.clock()),
      currency: runtime.config.currency,
      baseUrl: await resolveBaseUrl(runtime),
      firstId,
      signal: options.signal,
      onProgress: (done, total) => progress.update('projects', done, total),
    })
  } finally {
    progress.stop()
  }
  const result = { projects: options.projects, firstId }
  output.line(output.json ? JSON.stringify(result) : `${options.projects} projects seeded, ids from ${firstId}`)
  return 0
}

/** `giving reset-demo`: removes demo data and everything that was published under the demo publisher. */
export async function resetDemoCommand(environment: Environment, output: Output): Promise<number> {
  await using runtime = await openRuntime(environment)
  const { db } = runtime.store
  const removed = await resetDemo(runtime.store)
  const identifiers = await withdrawIdentifiersOf(db, demoReportingOrgRef)
  await recordFact(db, 'demo-seeded', 'removed', runtime.clock())
  const live = await createReleaseReader(runtime.feedsDir).live()
  if (live) await recordFact(db, 'loss-accepted-from', live.id, runtime.clock())
  const result = { ...removed, identifiers }
  output.line(
    output.json
      ? JSON.stringify(result)
      : `removed ${removed.projects} demo projects and ${removed.organisations} organisations; ` +
          'the next publication goes out without them',
  )
  return 0
}
