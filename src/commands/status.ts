import type { Command } from 'commander'
import { openQueue, queueSettings } from '../../jobs/queue.js'
import { queueNames, work } from '../../jobs/work.js'
import { toServiceError } from '../domain/errors.js'
import { nextDue } from '../domain/schedule.js'
import { receiptWarnings } from '../mail/receipt-warnings.js'
import { paymentWarnings } from '../payments/payment-needs.js'
import { publicationHealth } from '../publishing/health.js'
import { createReleaseReader } from '../publishing/release/read/release-reader.js'
import { publicationSchedule } from '../runs/publication.js'
import type { ReleaseEvent } from '../store/publication/releases.js'
import type { RunSummary } from '../store/runs/runs.js'
import { pendingMigrations } from '../store/schema/migrate.js'
import { type CommandLine, jsonOption } from './command-line.js'
import type { Output } from './output.js'
import { describeRun } from './publish.js'
import { reportWithoutDatabase } from './status-without-database.js'
import { findNeeds } from './wiring/needs.js'
import { openPayments, paymentFields } from './wiring/payments.js'
import { openRuntime, type Runtime } from './wiring/runtime.js'

/** `giving status`. */
export function registerStatus(program: Command, commandLine: CommandLine): void {
  program
    .command('status')
    .description('tell how things are; exit code 1 when something needs a person')
    .option(...jsonOption)
    .action(commandLine.action((output) => reportStatus(commandLine, output)))
}

const statusFields = ['publish', 'queue', 'upstreamUrl', ...paymentFields] as const

type StatusRuntime = Runtime<(typeof statusFields)[number]>

type Status = {
  readonly database: { readonly kind: 'given' | 'embedded'; readonly reachable: true }
  readonly migrations: { readonly pending: readonly string[] }
  readonly queue:
    | { readonly engine: string; readonly reachable: true; readonly workers: number; readonly jobs: unknown }
    | { readonly engine: string; readonly reachable: false; readonly error: string }
  readonly lastRun: RunSummary | undefined
  readonly lastGoodRun: RunSummary | undefined
  readonly nextRun: Date
  /** A scheduled publication is late. */
  readonly overdue: boolean
  /** The rollback that is in force. */
  readonly rollback: ReleaseEvent | undefined
  readonly live: { readonly release: string; readonly generated: string; readonly activities: number } | undefined
  readonly held: { readonly count: number; readonly sample: readonly string[] }
  /** Observations that need no action yet. */
  readonly warnings: readonly string[]
  /** Problems that need a person; empty when all is well. */
  readonly needs: readonly string[]
}

/**
 * Exit code 0 when all is well, 1 when something needs a person. When the database cannot be reached, this reports that
 * and what the configuration and the published files show.
 */
async function reportStatus({ environment, signal }: CommandLine, output: Output): Promise<number> {
  try {
    await using runtime = await openRuntime(environment, statusFields, { signal, migrate: false })
    const status = await gather(runtime)
    output.result(status, () => describe(status))
    return status.needs.length > 0 ? 1 : 0
  } catch (error) {
    const failure = toServiceError(error)
    if (failure.code !== 'database-unavailable') throw error
    return await reportWithoutDatabase(environment, failure, output)
  }
}

async function gather(runtime: StatusRuntime): Promise<Status> {
  const { config, store, clock } = runtime
  const pending = await pendingMigrations(store.db)
  const base = {
    database: { kind: config.database.kind, reachable: true },
    migrations: { pending },
    nextRun: nextDue(publicationSchedule(config), clock()),
  } as const
  const queue = await queueStatus(runtime)
  if (pending.length > 0) {
    const needs = [`migrations are pending: run giving migrate (${pending.join(', ')})`]
    return {
      ...base,
      queue,
      lastRun: undefined,
      lastGoodRun: undefined,
      overdue: false,
      rollback: undefined,
      live: undefined,
      held: { count: 0, sample: [] },
      warnings: [],
      needs,
    }
  }
  const releases = createReleaseReader(runtime.feedsDir)
  const {
    live: release,
    lastRun,
    lastGoodRun,
    overdue,
    rollback,
    needs,
    warnings,
  } = await publicationHealth({ store, releases, clock })
  const held = release?.manifest.held
  const payments = await openPayments(runtime, { makesDonorKey: false })
  const found = await findNeeds(store, needs, payments, config.upstreamUrl !== undefined)
  return {
    ...base,
    queue,
    lastRun,
    lastGoodRun,
    overdue,
    rollback,
    live: release && {
      release: release.id,
      generated: release.manifest.generated,
      activities: release.manifest.totals.activities,
    },
    held: { count: held?.count ?? 0, sample: held?.sample.map((activity) => activity.identifier).slice(0, 10) ?? [] },
    warnings: [
      ...warnings,
      ...(payments.closedBecause === undefined ? [] : [`no donations are taken: ${payments.closedBecause}`]),
      ...(await receiptWarnings(store.db, payments, clock())),
      ...(await paymentWarnings(store.db, payments.gateway)),
    ],
    needs: [
      ...(queue.reachable ? [] : [`the queue cannot be reached: ${queue.error}`]),
      ...found.map(({ message }) => message),
    ],
  }
}

async function queueStatus(runtime: StatusRuntime): Promise<Status['queue']> {
  const { config, secrets, databaseUrl, log } = runtime
  const { engine } = config.queue
  try {
    await using queue = await openQueue(queueSettings(config, secrets, databaseUrl), log)
    return {
      engine,
      reachable: true,
      workers: await queue.liveWorkers('publish'),
      jobs: await queue.counts(queueNames(work)),
    }
  } catch (error) {
    return { engine, reachable: false, error: toServiceError(error).message }
  }
}

function describe(status: Status): string[] {
  const { database, migrations, queue, lastGoodRun, live } = status
  const rows: readonly (readonly [string, string])[] = [
    ['database', `reachable (${database.kind})`],
    ['migrations', migrations.pending.length > 0 ? `pending: ${migrations.pending.join(', ')}` : 'up to date'],
    ['queue', queue.reachable ? `${queue.engine}, ${queue.workers} workers` : `${queue.engine}, unreachable`],
    ['last good run', lastGoodRun ? `${describeRun(lastGoodRun)} (${lastGoodRun.finishedAt?.toISOString()})` : 'none'],
    ['live release', live ? `${live.release}, ${live.activities} activities, generated ${live.generated}` : 'none'],
    ['next run', status.nextRun.toISOString()],
    ['needs a person', status.needs.length > 0 ? '' : 'nothing'],
  ]
  return [
    ...rows.map(([what, value]) => `${`${what}:`.padEnd(16)}${value}`),
    ...status.needs.map((need) => `  - ${need}`),
    ...status.warnings.map((warning) => `note: ${warning}`),
  ]
}
