import type { Environment } from '../../platform/config/config.js'
import { processNumber } from '../../platform/config/environment.js'
import type { Metrics } from '../../platform/observability/metrics.js'
import { serveMetrics } from '../../platform/observability/metrics-server.js'
import type { CommandLine } from '../command-line.js'
import { toListenError } from '../wiring/listening.js'
import { openMetrics } from '../wiring/metrics.js'
import { nextByConfiguration, openWork, workFields } from '../wiring/open-work.js'
import { aborted, goBehindOthers, tuneWorker, untilStopped } from '../wiring/process.js'
import type { Runtime } from '../wiring/runtime.js'
import { answerSupervisor, startWorkerProcesses } from '../wiring/worker-processes.js'

/** The action of `giving worker`: in one process, or in several under a supervisor. */
export const workerAction = ({ storeAction, environment }: CommandLine) =>
  storeAction(
    [...workFields, 'host', 'metricsPort', 'workerProcesses'],
    async (runtime, _output, { processes = runtime.config.workerProcesses }: { processes?: number }) => {
      const number = processNumber(environment)
      if (number !== undefined) return await workUnderSupervisor(runtime, number)
      return processes === 1 ? await workAlone(runtime, environment) : await supervise(runtime, environment, processes)
    },
    { waits: true, serves: 'worker' },
  )

async function workAlone(runtime: Runtime, environment: Environment): Promise<number> {
  tuneWorker()
  goBehindOthers()
  const metrics = openMetrics(runtime)
  // First, so that the metrics of a worker that waits for its clock can be read.
  await serveWorkerMetrics(runtime, metrics, () => true)
  await openWork(runtime, metrics)
  runtime.tell(`worker ready; next publication ${nextByConfiguration(runtime)}`)
  await untilStopped(environment, runtime)
  return 0
}

/** An ordinary worker; its supervisor has the metrics port, and tells systemd. */
async function workUnderSupervisor(runtime: Runtime, number: number): Promise<number> {
  tuneWorker()
  goBehindOthers()
  const metrics = openMetrics(runtime, String(number))
  const supervisor = answerSupervisor(metrics)
  await openWork(runtime, metrics)
  supervisor.tellReady()
  await aborted(runtime.signal)
  return 0
}

async function supervise(runtime: Runtime, environment: Environment, count: number): Promise<number> {
  const { config, log, signal } = runtime
  const metrics = openMetrics(runtime, 'supervisor')
  const workers = startWorkerProcesses({ count, environment, log, signal, shutdownSeconds: config.shutdownSeconds })
  runtime.defer(() => workers.stop())
  metrics.addProcesses(() => workers.measured())
  await serveWorkerMetrics(runtime, metrics, () => workers.areAlive())
  const failed = await workers.started
  if (failed !== undefined) return failed
  runtime.tell(`worker ready; ${count} processes; next publication ${nextByConfiguration(runtime)}`)
  await untilStopped(environment, runtime)
  return 0
}

/** A worker has no other HTTP server; the API process serves its metrics on its own port. */
async function serveWorkerMetrics(runtime: Runtime, metrics: Metrics, isAlive: () => boolean): Promise<void> {
  const { config, tell } = runtime
  if (config.metricsPort === undefined) return
  try {
    const server = await serveMetrics(metrics, config.host, config.metricsPort, isAlive)
    runtime.defer(() => server.close())
    tell(`metrics on http://${config.host}:${server.port}/metrics`)
  } catch (error) {
    throw toListenError(error, config.host, config.metricsPort, 'METRICS_PORT or HOST')
  }
}
