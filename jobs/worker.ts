import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../src/kernel/errors.js'
import type { Config, ConfigField } from '../src/platform/config/config.js'
import { createOwner } from '../src/work/attempt.js'
import { createClockCheck } from '../src/work/clock-check.js'
import { onceReachable } from '../src/work/outage.js'
import { openQueue, type QueueSettings, queueSettings } from './queue.js'
import { guarded, type Rounds } from './rounds.js'
import { type RunningWork, startWork } from './running-work.js'
import { queueNames, work } from './work.js'
import type { Work, WorkDeps } from './work-row.js'

/** The fields of the configuration that a worker uses. */
export const workerFields: readonly ConfigField[] = [
  ...(['queue', 'shutdownSeconds'] as const),
  ...work.flatMap(({ fields }) => fields),
]

export type WorkerDeps = Omit<WorkDeps, 'config' | 'queue' | 'owner' | 'lockSeconds' | 'clockAgrees'> &
  Omit<Rounds, 'rows' | 'scheduled'> & {
    readonly config: Config
    /** Where the database is, embedded or given: the queue opens connections of its own to it. */
    readonly databaseUrl: string
    /** Departures from the queue's defaults. */
    readonly queue?: Partial<QueueSettings>
    /** The table of work, unless a test has another one. */
    readonly work?: readonly Work[]
    /** Aborted when the process is asked to stop: ends a start that waits. */
    readonly signal?: AbortSignal
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

const clockCheckMs = 1_000

/**
 * Starts a worker; resolves when it takes jobs, which it does once the database and the queue can be reached and its clock
 * agrees with the database's. While the clock does not agree later on, it stops taking jobs and hands its runs back.
 * Throws `configuration-invalid`, or `aborted` by the signal.
 */
export async function startWorker(given: WorkerDeps): Promise<Worker> {
  const { config, log } = given
  const rows = given.work ?? work
  const settings = { ...queueSettings(given), ...given.queue }
  const { signal = new AbortController().signal } = given
  const queue = await onceReachable(
    log,
    signal,
    () => openQueue(settings, log),
    (late) => late.close(),
  )
  const ledger = { ...given, owner: createOwner(), lockSeconds: settings.lockSeconds }
  const deps: WorkDeps = { ...ledger, queue, clockAgrees: createClockCheck(ledger) }
  const begin = async () => ((await deps.clockAgrees()) ? await startWork(deps, rows, given) : undefined)
  let running: RunningWork | undefined
  try {
    for (;;) {
      running = await onceReachable(log, signal, begin)
      if (running) break
      await sleep(clockCheckMs, undefined, { signal })
    }
  } catch (error) {
    await queue.close()
    throw signal.aborted ? new ServiceError('aborted', 'the start was interrupted', { cause: error }) : error
  }
  log.info({ owner: deps.owner, ...Object.assign({}, ...rows.map((row) => row.schedules(config))) }, 'worker ready')

  let closing: Promise<void> | undefined
  const stop = async (stopped: RunningWork | undefined, patienceMs: number) => {
    await stopped?.finish(patienceMs)
    await stopped?.close()
  }
  const followClock = guarded(log, 'check of the clock', async () => {
    if (!running) {
      const begun = await begin()
      if (closing) await stop(begun, 0)
      else running = begun
    } else if (!(await deps.clockAgrees())) {
      const stopped = running
      running = undefined
      await stop(stopped, 0)
    }
  })
  const checks = setInterval(followClock, clockCheckMs)
  const close = async () => {
    clearInterval(checks)
    await running?.finish(patienceMs(config.shutdownSeconds))
    await Promise.all([running?.close(), queue.close()])
    const peakMegabytes = Math.round((process.resourceUsage().maxRSS * 1024) / 1e6)
    log.info({ owner: deps.owner, peakMegabytes }, 'worker stopped')
  }
  const closeOnce = () => {
    closing ??= close()
    return closing
  }
  const queueCounts = () => queue.counts(queueNames(rows))
  return { owner: deps.owner, close: closeOnce, queueCounts, [Symbol.asyncDispose]: closeOnce }
}

/** How long jobs may go on: the rest is for handing runs back (1 s), closing connections (2 s), and the store (1 s). */
function patienceMs(shutdownSeconds: number): number {
  return Math.max(shutdownSeconds * 1000 - 4000, shutdownSeconds * 500)
}
