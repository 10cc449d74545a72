import { ServiceError } from '../src/kernel/errors.js'
import { enterDue, enterOverdue, putInForce } from '../src/work/due.js'
import { dispatchNext } from './dispatch.js'
import { type Ending, startHelping } from './helping.js'
import type { JobCall, JobHandler, QueueWorker } from './queue-worker.js'
import { type Rounds, startRounds } from './rounds.js'
import { installSchedulers } from './schedulers.js'
import { queueNames } from './work.js'
import type { OpenWork, Work, WorkDeps } from './work-row.js'

/** The table of work while this process does it. */
export type RunningWork = {
  /** Takes no further jobs. After `patienceMs` those at work are aborted, and hand their run back within a second. */
  finish(patienceMs: number): Promise<void>
  /** Closes the connections within 2 s; a job that is still at work then is left to another worker. */
  close(): Promise<void>
}

type Part = OpenWork & { readonly row: Work }

/**
 * Begins the work of the table: puts the configured schedules in force, makes up for the latest instant that was missed,
 * takes jobs, and starts the rounds outside the queue.
 */
export async function startWork(
  deps: WorkDeps,
  rows: readonly Work[],
  given: Omit<Rounds, 'rows' | 'scheduled'>,
): Promise<RunningWork> {
  const { queue, config } = deps
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
  const close = async () => void (await Promise.all(consumers.map((consumer) => consumer.close())))
  try {
    const taking = queueNames(parts.map(({ row }) => row)).map(async (name) => {
      const sharing = parts.filter(({ row }) => name in row.queues)
      const concurrency = Math.max(...sharing.map(({ row }) => row.queues[name] ?? 1))
      consumers.push(await queue.work(name, concurrency, handlerOf(deps, sharing)))
    })
    // All of them have begun before one that failed closes the others.
    await Promise.allSettled(taking)
    await Promise.all(taking)
    const rounds = await startRounds(deps, { ...given, rows, scheduled })
    const helping = parts.flatMap(({ help }) => (help ? [startHelping(deps.log, help)] : []))
    const working: readonly Ending[] = [...consumers, ...helping]
    return {
      finish: async (patienceMs) => {
        rounds.stop()
        for (const one of working) one.pause()
        const idle = await Promise.all(working.map((one) => one.idle(patienceMs)))
        if (!idle.includes(false)) return
        for (const one of working) one.abort()
        await Promise.all(working.map((one) => one.idle(1000)))
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** What is done with the jobs of one queue, by the rows that share it. */
function handlerOf(deps: WorkDeps, parts: readonly Part[]): JobHandler {
  const jobs = new Map(parts.flatMap((part) => Object.entries(part.jobs ?? {})))
  return async (call) => {
    const handle = call.name === 'tick' ? tickOf(deps, parts, call) : jobs.get(call.name)
    if (!handle) throw new ServiceError('request-invalid', `this queue has no job that is called "${call.name}"`)
    return await handle(call)
  }
}

/** What a scheduler's job does: runs of the ledger are entered, other work is done. */
function tickOf(deps: WorkDeps, parts: readonly Part[], { data, dueAt }: JobCall) {
  const schedule = typeof data === 'object' && data !== null && 'schedule' in data ? String(data.schedule) : ''
  const part = parts.find(({ row }) => schedule in row.schedules(deps.config))
  const runs = part?.scheduled?.find((one) => one.schedule === schedule)
  if (!runs) return part?.tick ?? (async () => 'of another version')
  return async () => {
    if (!(await deps.clockAgrees())) throw new ServiceError('clock-wrong', 'the clock of this process is wrong')
    const entered = dueAt ? await enterDue(runs, dueAt) : 'not of a schedule'
    await dispatchNext(deps, runs.kind)
    return entered
  }
}
