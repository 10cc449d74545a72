import { type JobQueue, openQueue, queueSettings } from '../../../jobs/queue.js'
import { queueNames, work } from '../../../jobs/work.js'
import { ofExtensions } from '../../extensions.js'
import { ServiceError } from '../../kernel/errors.js'
import { within } from '../../kernel/within.js'
import type { Payments } from '../../money/payments.js'
import type { Metrics } from '../../platform/observability/metrics.js'
import type { Looks, ServingDeps } from '../extension.js'
import type { CleanupStack } from './cleanup-stack.js'
import { openPayments } from './payments.js'
import type { Runtime } from './runtime.js'
import { apiFields } from './serve-api.js'
import { lookAtService, queueStatus, readQueue, statusFields } from './service-status.js'
import { deliveryOf } from './shared-folders.js'

const queueMs = 3_000
const failedJobsShown = 20

const servers = ofExtensions('server')

/** The fields of the configuration that API processes use: for the API, alarms and the servers of extensions. */
export const serverFields = [
  ...apiFields,
  ...statusFields,
  'alerts',
  ...servers.flatMap(({ fields }) => [...fields]),
] as const

/** Serves what extensions serve beside the API; returns what each is and its address. */
export async function serveExtensions(runtime: Runtime, metrics: Metrics): Promise<(readonly [string, string])[]> {
  const served: (readonly [string, string])[] = []
  for (const { about, serve } of servers) served.push([about, await serve(servingDeps(runtime, metrics))])
  return served
}

/** @internal for tests of the console, which open it alone */
export function servingDeps(runtime: Runtime, metrics: Metrics): ServingDeps {
  return { runtime, metrics, openPayments, openLooks, deliveryOf }
}

/** The queue is opened when it is first asked for. */
function openLooks(runtime: Runtime, payments: Payments, cleanup: CleanupStack): Looks {
  const { config, databaseUrl, log } = runtime
  const names = queueNames(work)
  let opened: Promise<JobQueue> | undefined
  const open = () => {
    opened ??= openQueue(queueSettings({ config, databaseUrl }), log).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  cleanup.defer(async () => await (await opened?.catch(() => undefined))?.close())
  return {
    status: async () => {
      const queue = await queueStatus(config.queue.engine, inTime(open().then(readQueue)))
      const { status, causes } = await lookAtService(runtime, queue, async () => payments)
      return { ...status, causes }
    },
    jobs: async () => {
      const asked = open().then((queue) => Promise.all([queue.failed(names, failedJobsShown), queue.schedulers(names)]))
      const [failed, schedulers] = await inTime(asked)
      return { failed, schedulers }
    },
  }
}

/** A page does not wait for a queue that cannot be reached. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const message = `the job queue did not answer within ${queueMs / 1000} s`
  return await within(queueMs, answer, () => new ServiceError('queue-unavailable', message))
}
