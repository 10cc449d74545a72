import { type ChildProcess, fork } from 'node:child_process'
import { on } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../platform/config/config.js'
import { environmentOfProcess } from '../../platform/config/environment.js'
import type { Log } from '../../platform/observability/log.js'
import { addMeasured, type Measured, type Metrics, totalsOf } from '../../platform/observability/metrics.js'
import { aborted } from './process.js'

/** The processes of one worker, each an ordinary worker: one that ends is started again. */
export type WorkerProcesses = {
  /** Resolves when all were ready, or to the exit code of the first one when it could not start. */
  readonly started: Promise<number | undefined>
  /** Whether none has ended and waits to be started again. */
  areAlive(): boolean
  /** What they measured; sums include the processes that have ended. */
  measured(): Promise<readonly Measured[]>
  /** Stops them in order, by force after `shutdownSeconds`. */
  stop(): Promise<void>
}

export type WorkerProcessesOptions = {
  readonly count: number
  readonly environment: Environment
  readonly log: Log
  /** Aborted when the supervisor is asked to stop: nothing is started again. */
  readonly signal: AbortSignal
  readonly shutdownSeconds: number
}

const program = fileURLToPath(new URL('../../cli.js', import.meta.url))
const longestWaitMs = 60_000
// Longer than a process waits for a queue that does not answer.
const answerMs = 6_000
// A process whose event loop does not run for so long is killed, as systemd kills a service.
const stuckMs = 30_000

type Question = 'alive' | 'measured'

/** Starts the processes. They end when this process ends, also when it is killed. */
export function startWorkerProcesses(options: WorkerProcessesOptions): WorkerProcesses {
  const { count, environment, log, shutdownSeconds } = options
  const stopping = new AbortController()
  const signal = AbortSignal.any([options.signal, stopping.signal])
  const running = new Map<number, ChildProcess>()
  const ready = new Set<ChildProcess>()
  const waiting = new Set<number>()
  const latest = new WeakMap<ChildProcess, Measured>()
  /** Sums of the processes that have ended. */
  let ended: Measured = []

  /** Runs a process again and again; resolves when it is ready, or to its exit code when `isTrial` and it was not. */
  const keepRunning = (number: number, isTrial: boolean) =>
    new Promise<number | undefined>((resolve) => {
      const run = async () => {
        for (let failures = 0; !signal.aborted; ) {
          const startedAt = performance.now()
          const child = fork(program, ['worker'], { env: environmentOfProcess(environment, number) })
          running.set(number, child)
          child.on('message', (message) => {
            if (message !== 'ready') return
            ready.add(child)
            resolve(undefined)
          })
          const [code, killedBy] = await endOf(child)
          running.delete(number)
          const wasReady = ready.delete(child)
          ended = addMeasured([ended, totalsOf(latest.get(child) ?? [])])
          if (signal.aborted) return
          if (isTrial && failures === 0 && !wasReady && code) return resolve(code)
          failures = performance.now() - startedAt > longestWaitMs ? 1 : failures + 1
          const waitMs = Math.min(longestWaitMs, 500 * 2 ** failures)
          const how = killedBy === null ? { code } : { signal: killedBy }
          log.error(
            { process: number, childPid: child.pid, ...how, waitMs },
            'a worker process ended and is started again',
          )
          waiting.add(number)
          await sleep(waitMs, undefined, { signal }).catch(() => undefined)
          waiting.delete(number)
        }
      }
      void run()
    })

  const watch = setInterval(async () => {
    const answers = [...ready].map(async (child) => [child, await ask(child, 'alive', stuckMs)] as const)
    for (const [child, answer] of await Promise.all(answers)) {
      if (answer === undefined && child.kill('SIGKILL'))
        log.error({ childPid: child.pid }, 'a worker process stood still')
    }
  }, stuckMs).unref()
  process.once('exit', () => {
    for (const child of running.values()) child.kill('SIGKILL')
  })
  const start = async () => {
    // The first one starts alone, so that a mistake in the configuration is reported once.
    const failed = await keepRunning(1, true)
    if (failed !== undefined) return failed
    await Promise.all(Array.from({ length: count - 1 }, (_, index) => keepRunning(index + 2, false)))
    return undefined
  }
  return {
    started: Promise.race([start(), aborted(signal).then(() => undefined)]),
    areAlive: () => waiting.size === 0,
    measured: async () => {
      const answered = new Set<ChildProcess>()
      const read = async (child: ChildProcess) => {
        const answer = await ask(child, 'measured', answerMs)
        if (answer === undefined) return
        latest.set(child, answer as Measured)
        answered.add(child)
      }
      await Promise.all([...running.values()].map(read))
      const known = [...running.values()].map((child) => ({ child, numbers: latest.get(child) ?? [] }))
      return [ended, ...known.map(({ child, numbers }) => (answered.has(child) ? numbers : totalsOf(numbers)))]
    },
    stop: async () => {
      stopping.abort()
      clearInterval(watch)
      const stopOne = async (child: ChildProcess) => {
        const end = endOf(child)
        // A process that has lost its supervisor stops.
        if (child.connected) child.disconnect()
        const inTime = await Promise.race([end, sleep((shutdownSeconds + 1) * 1000, undefined, { ref: false })])
        if (inTime || !child.kill('SIGKILL')) return
        log.warn({ childPid: child.pid }, 'a worker process did not stop in time and was killed')
        await end
      }
      await Promise.all([...running.values()].map(stopOne))
    },
  }
}

/** The other side: answers what the supervisor asks. */
export function answerSupervisor(metrics: Metrics): { tellReady(): void } {
  const tell = (message: unknown) => process.send?.(message, undefined, undefined, () => undefined)
  process.on('message', async (question: Question) => {
    tell({ question, answer: question === 'measured' ? await metrics.measured() : true })
  })
  return { tellReady: () => tell('ready') }
}

/** Resolves when the process has ended, or could not be started. */
function endOf(child: ChildProcess): Promise<[code: number | null, signal: NodeJS.Signals | null]> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve([child.exitCode, child.signalCode])
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve([code, signal]))
    child.on('error', () => {
      if (child.pid === undefined) resolve([null, null])
    })
  })
}

/** What the process answers; undefined when it does not in time. */
async function ask(child: ChildProcess, question: Question, patienceMs: number): Promise<unknown> {
  child.send(question, () => undefined)
  try {
    const messages = on(child, 'message', { signal: AbortSignal.timeout(patienceMs), close: ['exit'] })
    for await (const [message] of messages) if (message.question === question) return message.answer
  } catch {
    // The process is too busy to answer, or the channel is closed.
  }
  return undefined
}
