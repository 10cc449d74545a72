import type { AddressInfo } from 'node:net'
import { type JobQueue, openQueue, queueSettings } from '../../../jobs/queue.js'
import { queueNames, work } from '../../../jobs/work.js'
import { type UploadLimits, uploadLimits } from '../../catalogue/import/uploads.js'
import { closeApi } from '../../http/api/close-api.js'
import type { ConsoleDeps, Looks, OperatorActions } from '../../http/console/console-deps.js'
import { createConsole } from '../../http/console/create-console.js'
import { ServiceError } from '../../kernel/errors.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import { isErrno } from '../../kernel/system-errors.js'
import { within } from '../../kernel/within.js'
import { isSandbox } from '../../money/gateways/gateway.js'
import type { Payments } from '../../money/payments.js'
import { reconciliationNeeds } from '../../money/reconcile.js'
import { parseOperatorTokens } from '../../platform/config/operator-token.js'
import type { Metrics } from '../../platform/observability/metrics.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { confirmFacts, explainForPages, factsForPages } from './assumed-facts.js'
import { CleanupStack } from './cleanup-stack.js'
import { countHeldByRule, findHeldProject, listHeldProjects } from './held-projects.js'
import { importFields, importOptionsOf } from './import-options.js'
import { listeningUrl, readCertificate, toListenError } from './listening.js'
import {
  compareByHand,
  discloseDonations,
  discloseDonor,
  endPlanByHand,
  mailReceiptAgain,
  refundByHand,
} from './money-actions.js'
import {
  approveHeld,
  cancelPublication,
  decideSource,
  requestPublication,
  requestSource,
  rollBackTo,
  switchSchedule,
  testAlarm,
} from './operator-actions.js'
import { openPayments } from './payments.js'
import { lookAtMirror } from './runs.js'
import { openPool, type Runtime } from './runtime.js'
import { lookAtService, queueStatus, readQueue, statusFields } from './service-status.js'
import { changeSources } from './source-changes.js'

export const consoleFields = [
  ...statusFields,
  ...importFields,
  'alerts',
  'ops',
  'unset',
  'rateLimitPerAddress',
  'trustProxy',
] as const

const defaultPort = 8081
// Of four connections an action uses two, one of them for the publishing lock; the pages have the others.
const connections = 4
const pageMs = 5_000
const queueMs = 3_000
const mostClients = { connections: 200, connectionsPerAddress: 100 }
const failedJobsShown = 20

/**
 * Serves the console for operators and returns its address; without OPS_PORT a taken port is replaced by a free one. Throws
 * `configuration-invalid` when OPS_PORT is taken.
 */
export async function serveConsole(
  given: Runtime,
  metrics: Metrics,
  limits: Partial<UploadLimits> = {},
): Promise<string> {
  const { config, log, clock, signal, feedsDir } = given
  const opened = new CleanupStack()
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= opened[Symbol.asyncDispose]()
    return closing
  }
  given.defer(close)
  // It closes while a worker of this process still finishes its jobs, so that both end in time.
  signal.addEventListener('abort', () => void close().catch(() => undefined), { once: true })
  const pool = openPool(given, { max: connections })
  opened.defer(() => pool.close())
  const runtime = { ...given, store: pool.answeringWithin(pageMs) }
  const parsed = parseOperatorTokens(config.secrets.opsTokens ?? '')
  const operators = 'value' in parsed ? parsed.value : []
  // A certificate is for the public name, which loopback addresses do not have.
  const tls = isLoopbackHost(config.ops.host) ? undefined : config.tls
  const payments = await openPayments({ ...given, store: pool })
  const app = await createConsole({
    ...{ store: runtime.store, feedsDir, clock, log, metrics, stopping: signal },
    releases: createReleaseReader(feedsDir),
    look: openLooks(runtime, { ...payments, store: runtime.store }, opened),
    money: moneyOf({ ...given, store: pool }, payments),
    actions: actionsOf({ ...given, store: pool }),
    imports: {
      ...{ store: pool, options: importOptionsOf(config), dataDir: config.dataDir },
      limits: { ...uploadLimits, ...limits },
    },
    operators,
    config: {
      limits: { ...mostClients, requestsPerAddress: config.rateLimitPerAddress },
      trustProxy: config.trustProxy,
      tls: await readCertificate({ tls }),
    },
  })
  opened.defer(() => closeApi(app, { drained: Promise.resolve(), graceMs: 1_000 }))
  await listen(app, config.ops.host, config.ops.port)
  return listeningUrl({ host: config.ops.host, tls }, (app.server.address() as AddressInfo).port)
}

type ConsoleServer = Awaited<ReturnType<typeof createConsole>>

async function listen(app: ConsoleServer, host: string, port: number | undefined): Promise<void> {
  const listenOn = (chosen: number) =>
    app.listen({ host, port: chosen, listenTextResolver: (address) => `the console is at ${address}` })
  try {
    await listenOn(port ?? defaultPort)
  } catch (error) {
    const isTaken = isErrno(error, 'EADDRINUSE')
    if (port !== undefined || !isTaken) throw toListenError(error, host, port ?? defaultPort, 'OPS_PORT or OPS_HOST')
    await listenOn(0)
  }
}

/** What the console shows; the commands read the same. The queue is opened when it is first asked for. */
function openLooks(runtime: Runtime, payments: Payments, cleanup: CleanupStack): Looks {
  const { config, databaseUrl, store, log, clock } = runtime
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
    held: (limit, filter) => listHeldProjects(store.db, limit, filter),
    heldByRule: () => countHeldByRule(store.db),
    facts: factsForPages(runtime),
    explain: explainForPages(runtime),
    heldProject: (id) => findHeldProject(store.db, id),
    mirror: async () => {
      const { upstream, ...mirror } = await lookAtMirror(store.db, config.upstreamUrl, clock())
      return upstream === undefined ? undefined : { upstream, ...mirror }
    },
    jobs: async () => {
      const asked = open().then((queue) => Promise.all([queue.failed(names, failedJobsShown), queue.schedulers(names)]))
      const [failed, schedulers] = await inTime(asked)
      return { failed, schedulers }
    },
  }
}

function moneyOf(runtime: Runtime, payments: Payments): ConsoleDeps['money'] {
  const { donors, gateway, currency } = payments
  return {
    ...{ gateway: gateway.name, isTest: isSandbox(gateway), currency },
    differences: () => reconciliationNeeds(payments),
    refundLimit: runtime.config.ops.refundLimit,
    refund: (donationId, amount, mostInDay, operator) =>
      refundByHand(runtime, payments, { donationId, kind: 'refund', amount, mostInDay }, operator),
    mailReceipt: (id, operator) => mailReceiptAgain(runtime, id, operator),
    endPlan: (id, operator) => endPlanByHand(runtime, id, operator),
    compare: (id, operator) => compareByHand(runtime, payments, id, operator),
    donor: (id, operator) => discloseDonor(runtime, donors, id, operator),
    donationsOf: async (email, operator) =>
      (await discloseDonations(runtime, donors, email, operator)).map(({ donation }) => donation.id),
  }
}

/** A page does not wait for a queue that cannot be reached. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const message = `the job queue did not answer within ${queueMs / 1000} s`
  return await within(queueMs, answer, () => new ServiceError('queue-unavailable', message))
}

function actionsOf(runtime: Runtime): OperatorActions {
  return {
    publish: ({ force }, operator) => requestPublication(runtime, { force }, operator),
    approve: (id, { acceptLoss }, operator) => approveHeld(runtime, id, { acceptLoss }, operator),
    rollback: (id, operator) => rollBackTo(runtime, id, operator),
    switchSchedule: (name, to, operator) => switchSchedule(runtime, name, to, operator),
    cancelRun: (id, operator) => cancelPublication(runtime, id, operator),
    testAlarm: (operator) => testAlarm(runtime, operator),
    confirmFacts: (operator) => confirmFacts(runtime, operator),
    addSource: async (definition, operator) => void (await changeSources(runtime, [definition], [], operator)),
    removeSource: async (name, operator) => void (await changeSources(runtime, [], [name], operator)),
    requestSource: (name, operator) => requestSource(runtime, name, operator),
    decideSource: (name, decision, operator) => decideSource(runtime, name, decision, operator),
  }
}
