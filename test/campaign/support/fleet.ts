import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import type { Store } from '../../../src/platform/database/store.js'
import { isFinished } from '../../../src/work/run.js'
import { createRun, getRun, type RunSummary } from '../../../src/work/sql/runs.js'
import { noRates, transpileProgram } from '../../support/commands/cli.js'

/** Never due while a case runs. */
export const neverSoon = '0 0 29 2 *'

/** Opens the consoles of all processes. */
export const consoleToken = 'seven-quiet-rivers-run'

/** A running process of the command line. */
export type FleetProcess = {
  readonly command: string
  readonly pid: number
  /** Of processes that serve HTTP. */
  readonly baseUrl: string
  /** Of their consoles. */
  readonly consoleUrl: string
  readonly running: boolean
  output(): string
  kill(): Promise<void>
  /** SIGTERM; resolves to how it ended and how long it took, in milliseconds. */
  terminate(): Promise<{ code: number | NodeJS.Signals | null; ms: number }>
}

/** A process that was started: its being ready, and its having ended, whether it was ready before or not. */
type Launched = {
  readonly child: ChildProcess
  readonly ready: Promise<FleetProcess>
  readonly ended: Promise<unknown>
}

/** Processes of `giving` on one database and one data directory, as an operator would run them. */
export type Fleet = {
  readonly dataDir: string
  readonly feedsDir: string
  readonly processes: readonly FleetProcess[]
  /** Starts a process; resolves when it is ready. */
  start(command: 'worker' | 'api' | 'start', environment?: Record<string, string>): Promise<FleetProcess>
  /** Starts one without waiting: the promise is its being ready. `within` is a command that runs it, such as `ip netns exec a`. */
  launch(command: string, environment?: Record<string, string>, within?: readonly string[]): Launched
  /** Kills whatever still runs. */
  end(): Promise<void>
}

const readyText = { worker: 'worker ready', api: 'listening on ', start: 'publishing ...' } as const

/** A fleet of real processes; killed, and its folder removed, after the file's tests. */
export async function createFleet(environment: Record<string, string>): Promise<Fleet> {
  const dataDir = environment.GIVING_DATA_DIR ?? (await mkdtemp(path.join(tmpdir(), 'giving-fleet-')))
  const program = await transpileProgram()
  const processes: FleetProcess[] = []
  const launch: Fleet['launch'] = (command, more = {}, within = []) => {
    const { PATH = '', HOME = '' } = process.env
    const [first = '', ...rest] = [...within, process.execPath, path.join(program, 'src/cli.js'), command]
    const child = spawn(first, rest, {
      env: {
        PATH,
        HOME,
        GIVING_DATA_DIR: dataDir,
        PORT: '0',
        OPS_PORT: '0',
        OPS_TOKEN: `campaign:${consoleToken}`,
        QUEUE_LOCK_SECONDS: '2',
        WORKER_PROCESSES: '1',
        REPORTING_ORG_REF: 'US-EIN-123456789',
        FACTS_CONFIRMED: 'yes',
        PUBLISH_SCHEDULE: neverSoon,
        BASE_URL: 'https://giving.example',
        ...noRates,
        ...environment,
        ...more,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const started = follow(child, command, { ...environment, ...more }.LOG_LEVEL !== 'warn')
    processes.push(started.process)
    return { child, ready: started.ready, ended: started.ended }
  }
  const end = async () => {
    await Promise.all(processes.splice(0).map((one) => one.kill()))
  }
  afterAll(async () => {
    await end()
    await rm(dataDir, { recursive: true, force: true })
  })
  return {
    dataDir,
    feedsDir: path.join(dataDir, 'feeds'),
    processes,
    launch,
    start: (command, more) => launch(command, more).ready,
    end,
  }
}

/** Follows a process; the address of an API is in its log, where that `tells` it. */
function follow(
  child: ChildProcess,
  command: string,
  tells: boolean,
): Omit<Launched, 'child'> & { readonly process: FleetProcess } {
  let output = ''
  let baseUrl = ''
  let consoleUrl = ''
  let look = () => {}
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      // BASE_URL is what links say; the address is in the log of the server.
      baseUrl ||= /http:\/\/\d+(?:\.\d+){3}:\d+/.exec(output)?.[0] ?? ''
      consoleUrl ||= /console is at (http:\S+:\d+)/.exec(output)?.[1] ?? ''
      if (output.length > 2_000_000) output = output.slice(-1_000_000)
      look()
    })
  }
  let ended = false
  const closed = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('close', (code, signal) => {
      ended = true
      resolve(code ?? signal)
      look()
    }),
  )
  const one: FleetProcess = {
    command,
    pid: child.pid ?? 0,
    get baseUrl() {
      return baseUrl
    },
    get consoleUrl() {
      return consoleUrl
    },
    get running() {
      return !ended
    },
    output: () => output,
    kill: async () => {
      child.kill('SIGKILL')
      await closed
    },
    terminate: async () => {
      const began = performance.now()
      child.kill('SIGTERM')
      return { code: await closed, ms: performance.now() - began }
    },
  }
  const wanted = readyText[command as keyof typeof readyText] ?? '\n'
  // Its addresses come on another stream, maybe later.
  const serves = tells && (command === 'api' || command === 'start')
  const ready = new Promise<FleetProcess>((resolve, reject) => {
    look = () => {
      if (output.includes(wanted) && ((baseUrl !== '' && consoleUrl !== '') || !serves)) resolve(one)
      else if (ended) reject(new Error(`giving ${command} ended before it was ready:\n${output.slice(-3000)}`))
    }
    look()
  })
  ready.catch(() => undefined)
  return { process: one, ready, ended: closed }
}

/** Enters a run as a person would; the workers' next round takes it up. */
export async function askForRun(store: Store): Promise<number> {
  return (await createRun(store.db, { trigger: 'manual', at: new Date() })).id
}

/** Waits for a run to end. While the database is away it goes on asking. */
export async function runEnded(store: Store, id: number): Promise<RunSummary> {
  for (;;) {
    const run = await getRun(store.db, id).catch(() => undefined)
    if (run && isFinished(run)) return run
    await sleep(50)
  }
}

/** Asks for a condition until it holds; the test's own time-out is the guard. */
export async function until<T>(condition: () => Promise<T | undefined | false>, pollMs = 25): Promise<T> {
  for (;;) {
    const value = await condition()
    if (value) return value
    await sleep(pollMs)
  }
}
