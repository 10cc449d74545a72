import path from 'node:path'
import type { Command } from 'commander'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import type { ServiceError } from '../../kernel/errors.js'
import { toServiceError } from '../../kernel/errors.js'
import { type Environment, readConfig } from '../../platform/config/config.js'
import { pendingMigrations } from '../../platform/database/migrate.js'
import { describePlace } from '../../release/operate/folder-of-store.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { publicationSchedule } from '../../release/run.js'
import { nextDue } from '../../work/schedule.js'
import { addCommand, type CommandLine } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import type { Status } from '../service-state.js'
import { openPayments } from '../wiring/payments.js'
import { describeRun } from '../wiring/runs.js'
import { openRuntime } from '../wiring/runtime.js'
import { lookAtService, queueStatus, readQueue, statusFields } from '../wiring/service-status.js'

/** `giving status`. */
export function registerStatus(program: Command, commandLine: CommandLine): void {
  addCommand(
    program,
    'status',
    'show the state of database, queue, releases and payments; exit code 1 when something needs a person',
  ).action(commandLine.action((output) => reportStatus(commandLine, output)))
}

/**
 * Exit code 0 when all is well, 1 when something needs a person. When the database cannot be reached, this reports that
 * and what the configuration and the published files show.
 */
async function reportStatus({ environment, signal }: CommandLine, output: Output): Promise<number> {
  try {
    await using runtime = await openRuntime(environment, statusFields, { signal, migrate: false })
    const { config, databaseUrl, log } = runtime
    // The queue is asked only after the database has answered: otherwise a person waits for two time-outs.
    await pendingMigrations(runtime.store.db)
    const answer = openQueue(queueSettings({ config, databaseUrl }), log).then(async (opened) => {
      runtime.defer(() => opened.close())
      return await readQueue(opened)
    })
    const queue = await queueStatus(config.queue.engine, answer)
    const { status } = await lookAtService(runtime, queue, () => openPayments(runtime, { makesDonorKey: false }))
    return output.result(toJson(status), () => describe(status), { code: status.needs.length > 0 ? 1 : 0 })
  } catch (error) {
    const failure = toServiceError(error)
    if (failure.code !== 'database-unavailable') throw error
    return await reportWithoutDatabase(environment, failure, output)
  }
}

/** Extensions tell of themselves under their own names. */
function toJson({ extensions, ...status }: Status): object {
  return { ...status, ...Object.fromEntries(extensions.map(({ about, facts }) => [about, facts])) }
}

function describe(status: Status): string[] {
  const { database, migrations, queue, lastGoodRun, live, extensions } = status
  const facts = [
    ['database', `reachable (${database.kind})`],
    ['migrations', migrations.pending.length > 0 ? `pending: ${migrations.pending.join(', ')}` : 'up to date'],
    ['queue', queue.reachable ? `${queue.engine}, ${queue.workers} workers` : `${queue.engine}, unreachable`],
    ['last good run', lastGoodRun ? `${describeRun(lastGoodRun)} (${lastGoodRun.finishedAt?.toISOString()})` : 'none'],
    ['live release', live ? `${live.release}, ${live.activities} activities, generated ${live.generated}` : 'none'],
    ['folder', status.copyOf ? describeCopy(status.copyOf) : status.folder && describePlace(status.folder)],
    ...extensions.map(({ about, line }) => [about, line] as const),
    ['next run', status.nextRun?.toISOString() ?? 'none: the schedule is paused'],
    ['needs a person', status.needs.length > 0 ? '' : 'nothing'],
  ] as const
  return [
    ...labelled(facts, 16),
    ...status.needs.map((need) => `  - ${need}`),
    ...status.warnings.map((warning) => `note: ${warning}`),
  ]
}

function describeCopy({ bucket, at }: NonNullable<Status['copyOf']>): string {
  const seconds = at && Math.max(0, Math.round((Date.now() - at.getTime()) / 1000))
  return `a copy of the bucket ${bucket}, ${seconds === undefined ? 'never compared with it' : `${seconds} s old`}`
}

/**
 * `giving status` while the database cannot be reached: what the configuration and the published files show, in the shape
 * of the whole status without the rest. Returns the exit code, which is 1.
 */
async function reportWithoutDatabase(environment: Environment, failure: ServiceError, output: Output): Promise<number> {
  const config = readConfig(environment, ['dataDir', 'database', 'publish'])
  const live = await createReleaseReader(path.join(config.dataDir, 'feeds')).live()
  const manifest = live?.manifest
  const next = nextDue(publicationSchedule(config), new Date())
  const held = manifest?.held
  const status = {
    database: { kind: config.database.kind, reachable: false, error: failure.message },
    nextRun: next,
    live: manifest && {
      release: manifest.release,
      generated: manifest.generated,
      activities: manifest.totals.activities,
    },
    held: { count: held?.count ?? 0, sample: held?.sample.map(({ identifier }) => identifier).slice(0, 10) ?? [] },
    needs: [failure.message],
  }
  return output.result(
    status,
    () => [
      `database:       unreachable (${config.database.kind})`,
      `live release:   ${live ? `${live.id}, ${manifest?.totals.activities} activities` : 'none'}`,
      `next run:       ${next.toISOString()}`,
      'needs a person: ',
      `  - ${failure.message}`,
    ],
    { code: 1 },
  )
}
