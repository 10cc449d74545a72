import { toServiceError } from '../src/domain/errors.js'
import type { Schedule } from '../src/domain/schedule.js'
import type { Log } from '../src/observability/log.js'
import type { Payments } from '../src/payments/payments.js'
import { settleOpen } from '../src/payments/settlement.js'
import type { JobQueue } from './queue.js'
import type { QueueWorker } from './queue-worker.js'
import { guarded } from './watchdog.js'

/** When open payments are looked up at the gateway: every minute. */
export const settlementSchedule: Schedule = { expression: '* * * * *', timezone: 'UTC' }
const name = 'settlement'
const restoreEveryMs = 60_000

export type SettlementDeps = {
  readonly queue: JobQueue
  readonly payments: Payments
  readonly log: Log
  /** `settlementSchedule` when absent. */
  readonly schedule?: Schedule
}

/**
 * Takes the settlement's jobs and keeps its scheduler in the queue. A job that is missed or comes twice does no harm:
 * every round takes all that is open, and a donation belongs to one round at a time. What was open when the service
 * stopped is settled by the first round, at once.
 */
export async function startSettlement(deps: SettlementDeps): Promise<{ consumer: QueueWorker; stop(): void }> {
  const { queue, log, schedule = settlementSchedule } = deps
  const restore = async () => {
    const found = await queue.findScheduler(name, name)
    if ((found?.next?.getTime() ?? 0) > Date.now() - restoreEveryMs) return
    await queue.upsertScheduler(name, schedule, name)
  }
  await restore()
  await queue.removeSchedulersExcept(name, name)
  const consumer = await queue.work(name, 1, { handle: async (call) => await settle(deps, call.signal) })
  const rounds = setInterval(() => void guarded(log, 'settlement scheduler', restore)(), restoreEveryMs)
  void settle(deps).catch((error: unknown) =>
    log.warn({ error: toServiceError(error).message }, 'the first settlement failed, the next minute repeats it'),
  )
  return { consumer, stop: () => clearInterval(rounds) }
}

async function settle({ payments, log }: SettlementDeps, signal?: AbortSignal): Promise<string> {
  const round = await settleOpen(payments, signal)
  const { settled, declined, failed, refunded, open } = round
  if (settled + declined + failed + refunded + open > 0) log.info({ ...round }, 'open payments were looked up')
  return `${settled} settled, ${declined} declined, ${failed} failed, ${refunded} refunded, ${open} open`
}
