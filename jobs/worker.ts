import type { ConfigOf } from '../src/config/config.js'
import { ServiceError } from '../src/domain/errors.js'
import { createOwner } from '../src/runs/attempt.js'
import { enterDue, enterOverdue, putInForce } from '../src/runs/due.js'
import { dispatchNext } from './dispatch.js'
import { openQueue, type QueueSettings, queueSettings } from './queue.js'
import type { JobCall, JobHandler, QueueWorker } from './queue-worker.js'
import { type Rounds, startRounds } from './rounds.js'
import { installSchedulers } from './schedulers.js'
import { queueNames, type WorkField, type WorkTable, type WorkTableDeps, work } from './work.js'
import type { OpenWork } from './work-row.js'

/** The fields of the configuration that a worker uses. */
export const workerFields = [
  'queue',
  'shutdownSeconds',
  ...work.flatMap(({ fields }): WorkField[] => [...fields]),
] as const

export type WorkerDeps = Omit<WorkTableDeps, 'config' | 'queue' | 'owner' | 'lockSeconds'> &
  Omit<Rounds, 'rows' | 'scheduled'> & {
    readonly config: ConfigOf<(typeof workerFields)[number]>
    /** Where the database is, embedded or given: the queue opens connections of its own to it. */
    readonly databaseUrl: string
    /** Departures from the queue's defaults. */
    readonly queue?: Partial<QueueSettings>
    /** The table of work, unless a test has another one. */
    readonly work?: WorkTable
  }

/** A running worker: takes jobs, and keeps the runs of the ledger going. */
export type Worker = AsyncDisposable & {
  /** Its name in the ledger. */
  readonly owner: string
  /** Stops within `config.shutdownSeconds`: jobs at work are finished or handed back. */
  close(): Promise<void>
  /** Jobs of each queue by state. */
  queueCounts(): Promise<Record<string, Record<string, number>>>
}

/** A row that this process has a part in. */
type Part = OpenWork & { readonly row: WorkTable[number] }

/**
 * Starts a worker; resolves when it takes jobs. Makes up for the latest instant missed while the service was down,
 * takes up what a dead worker left, and puts the configured schedules in force. Throws `queue-unavailable`,
 * `database-unavailable` or `configuration-invalid`.
 */
export async function startWorker(given: WorkerDeps): Promise<Worker> {
  const settings = { ...queueSettings(given.config, given.secrets, given.databaseUrl), ...given.queue }
  const queue = await openQueue(settings, given.log)
  try {
    const deps: WorkTableDeps = { ...given, queue, owner: createOwner(), lockSeconds: settings.lockSeconds }
    return await startWork(deps, given, given.work ?? work)
  } catch (error) {
    await queue.close()
    throw error
  }
}

async function startWork(deps: WorkTableDeps, given: WorkerDeps, rows: WorkTable): Promise<Worker> {
  const { queue, log, owner } = deps
  const { config } = given
  const parts: Part[] = []
  for (const row of rows) {
    const open = row.open(deps)
    if (open) parts.push({ ...open, row })
  }
  for (const { row, scheduled = [] } of parts) {
    const schedules = row.schedules(config)
    for (const runs of scheduled) {
      const configured = schedules[runs.schedule]
      if (configured) await putInForce(runs, configured)
    }
  }
  await installSchedulers(deps, rows)
  const scheduled = parts.flatMap((part) => part.scheduled ?? [])
  for (const runs of scheduled) await enterOverdue(runs)
  for (const { begin } of parts) await begin?.()
  const consumers: QueueWorker[] = []
  for (const name of queueNames(parts.map(({ row }) => row))) {
    const sharing = parts.filter(({ row }) => name in row.queues)
    const concurrency = Math.max(...sharing.map(({ row }) => row.queues[name] ?? 1))
    consumers.push(await queue.work(name, concurrency, handlerOf(deps, sharing)))
  }
  const rounds = await startRounds(deps, { ...given, rows, scheduled })
  log.info({ owner, ...Object.assign({}, ...rows.map(({ schedules }) => schedules(config))) }, 'worker ready')

  let closing: Promise<void> | undefined
  const close = async () => {
    await rounds.stop()
    await stopConsumers(consumers, config.shutdownSeconds)
    await queue.close()
    log.info({ owner }, 'worker stopped')
  }
  const closeOnce = () => {
    closing ??= close()
    return closing
  }
  const queueCounts = () => queue.counts(queueNames(rows))
  return { owner, close: closeOnce, queueCounts, [Symbol.asyncDispose]: closeOnce }
}

/** What is done with the jobs of one queue, by the rows that share it. */
function handlerOf(deps: WorkTableDeps, parts: readonly Part[]): JobHandler {
  const jobs = new Map(parts.flatMap((part) => Object.entries(part.jobs ?? {})))
  return {
    handle: async (call) => {
      const handle = call.name === 'tick' ? tickOf(deps, parts, call) : jobs.get(call.name)
      if (!handle) throw new ServiceError('request-invalid', `this queue has no job that is called "${call.name}"`)
      return await handle(call)
    },
    onGivenUp: (name, data, error) => {
      for (const { onGivenUp } of parts) void onGivenUp?.(name, data, error)
    },
  }
}

/** What a scheduler's job does: runs of the ledger are entered, other work is done. */
function tickOf(deps: WorkTableDeps, parts: readonly Part[], { data, dueAt }: JobCall) {
  const schedule = typeof data === 'object' && data !== null && 'schedule' in data ? String(data.schedule) : ''
  const part = parts.find(({ row }) => schedule in row.schedules(deps.config))
  const runs = part?.scheduled?.find((one) => one.schedule === schedule)
  if (!runs) return part?.tick ?? (async () => 'of another version')
  return async () => {
    const entered = dueAt ? await enterDue(runs, dueAt) : 'not of a schedule'
    await dispatchNext(deps, runs.kind)
    return entered
  }
}

/** Lets jobs finish; those that are still at work when most of the time is over are aborted and hand their run back. */
async function stopConsumers(consumers: readonly QueueWorker[], shutdownSeconds: number): Promise<void> {
  await Promise.all(consumers.map((consumer) => consumer.pause()))
  // Time enough is kept back for aborted jobs to hand their run back and for the connections to close.
  const patienceMs = Math.max(shutdownSeconds * 1000 - 3000, shutdownSeconds * 500)
  const idle = await Promise.all(consumers.map((consumer) => consumer.idle(patienceMs)))
  if (!idle.includes(false)) return
  for (const consumer of consumers) consumer.abort()
  await Promise.all(consumers.map((consumer) => consumer.idle(1000)))
}
