import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AlarmChange } from '../../src/platform/alarms.js'
import { isFinished } from '../../src/work/run.js'
import { createRun, getRun } from '../../src/work/sql/runs.js'
import { newInstallation, type RunningService } from '../support/commands/cli.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'

const patience = { interval: 50 }

describe('giving worker in several processes', async () => {
  const { store, url } = await testDatabase()

  async function start(environment: Record<string, string> = {}): Promise<RunningService> {
    const settings = { DATABASE_URL: url, REPORTING_ORG_REF: 'US-EIN-123456789', PUBLISH_SCHEDULE: '0 0 29 2 *' }
    const installation = await newInstallation({
      ...settings,
      WORKER_PROCESSES: '2',
      METRICS_PORT: '0',
      ...environment,
    })
    onTestFinished(() => installation.remove())
    return await installation.serve('worker')
  }

  it('has one log, one metrics port and one signal, and starts processes again that were killed', async () => {
    const worker = await start()
    const first = await bothReady(worker)
    expect(first.map(({ process }) => process).sort()).toEqual([1, 2])
    await publish()
    const render = 'giving_stage_duration_seconds_count{stage="render"}'
    const before = await metrics(worker)
    expect(before.get(render)).toBe(1)
    expect(before.get('giving_queue_up')).toBe(1)
    for (const name of ['1', '2', 'supervisor']) {
      expect(before.get(`giving_process_resident_memory_bytes{process="${name}"}`)).toBeGreaterThan(10_000_000)
    }
    expect(await health(worker)).toBe(200)

    for (const { pid } of first) process.kill(pid, 'SIGKILL')
    await expect.poll(() => health(worker), patience).toBe(503)
    // Whichever of them had published: its sums stay.
    const after = await metrics(worker)
    expect(after.get(render)).toBe(1)
    expect(after.get('process_cpu_seconds_total')).toBeGreaterThanOrEqual(before.get('process_cpu_seconds_total') ?? 0)
    expect(after.has('giving_process_resident_memory_bytes{process="1"}')).toBe(false)
    const restarted = () => linesOf(worker).filter(({ msg }) => msg === 'a worker process ended and is started again')
    await expect.poll(() => restarted().length, patience).toBe(2)
    const restarts = restarted()
    expect(restarts.map(({ process, childPid: pid }) => ({ process, pid }))).toEqual(expect.arrayContaining(first))
    expect(restarts.map(({ signal }) => signal)).toEqual(['SIGKILL', 'SIGKILL'])
    await expect.poll(() => readyProcesses(worker).length, patience).toBe(4)
    expect(await health(worker)).toBe(200)

    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
    expect(linesOf(worker).filter(({ msg }) => msg === 'worker stopped')).toHaveLength(2)
    expect(readyProcesses(worker).filter(({ pid }) => isRunning(pid))).toEqual([])
  })

  it('writes warnings of libraries as lines of the log, each of which names its process once', async () => {
    // Warns when the test says so, as the SDK of a bucket does when it is first used.
    const folder = await temporaryFolder()
    const library = path.join(folder, 'library.mjs')
    await writeFile(library, `process.on('SIGUSR2', () => process.emitWarning('old Node', 'NodeDeprecationWarning'))\n`)
    const worker = await start({ NODE_OPTIONS: `--import=${library}`, LOG_FORMAT: 'json' })
    const [first, second] = await bothReady(worker)
    if (!first || !second) throw new Error('expected two processes')
    const told = () => linesOf(worker).filter(({ msg }) => msg === 'old Node')
    for (const { pid } of [first, second]) process.kill(pid, 'SIGUSR2')
    worker.kill('SIGUSR2')
    await expect.poll(() => told().length, patience).toBe(3)
    expect(told()).toEqual(told().map(() => expect.objectContaining({ level: 40, warning: 'NodeDeprecationWarning' })))
    expect(new Set(told().map(({ pid }) => pid)).size).toBe(3)
    // The supervisor tells of another process.
    process.kill(first.pid, 'SIGKILL')
    const restarted = () => linesOf(worker).find(({ msg }) => msg === 'a worker process ended and is started again')
    await expect.poll(restarted, patience).toMatchObject({ childPid: first.pid })
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
    const lines = worker.output().trimEnd().split('\n')
    expect(lines.filter((line) => !line.startsWith('{') && line.includes('Warning'))).toEqual([])
    const logged = lines.filter((line) => line.startsWith('{'))
    expect(logged.filter((line) => line.match(/"pid":/g)?.length !== 1)).toEqual([])
  })

  it('goes behind others, with a small young generation that stays small, also beside threads', async (context) => {
    if (process.platform !== 'linux') return context.skip('priorities of threads are those of Linux')
    const library = await youngGenerationTeller()
    const worker = await start({ NODE_OPTIONS: `--import=${library}`, LOG_FORMAT: 'json' })
    const [first] = await bothReady(worker)
    if (!first) throw new Error('expected two processes')
    const threads = await readdir(`/proc/${first.pid}/task`)
    const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${first.pid}/task/${thread}/stat`, 'utf8')))
    // The nineteenth field; the second is a name in brackets.
    const priorities = stats.map((stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
    expect(new Set(priorities)).toEqual(new Set(['10']))
    process.kill(first.pid, 'SIGUSR2')
    const told = () => linesOf(worker).find(({ msg }) => msg.startsWith('young generation'))?.msg
    await expect.poll(told, patience).toBe(`young generation ${8 * 2 ** 20}`)
  })

  it('leaves the young generation of an API to V8: pages are drawn for many readers', async () => {
    const library = await youngGenerationTeller()
    const installation = await newInstallation({ DATABASE_URL: url, NODE_OPTIONS: `--import=${library}` })
    onTestFinished(() => installation.remove())
    const api = await installation.serve('api')
    process.kill(api.pid, 'SIGUSR2')
    await api.printed('young generation')
    const [, bytes] = /young generation (\d+)/.exec(api.output()) ?? []
    expect(Number(bytes)).toBeGreaterThan(8 * 2 ** 20)
    api.kill('SIGTERM')
    expect(await api.ended).toBe(0)
  })

  it('leaves no process behind when its supervisor is killed', async () => {
    const worker = await start()
    const processes = await bothReady(worker)
    worker.kill('SIGKILL')
    await worker.ended
    await expect.poll(() => processes.filter(({ pid }) => isRunning(pid)), patience).toEqual([])
  })

  it('ends with exit code 2 and says once what is wrong when its processes cannot start', async () => {
    const installation = await newInstallation({ DATABASE_URL: url })
    onTestFinished(() => installation.remove())
    const { code, stderr } = await installation.run(['worker', '--processes', '3'])
    expect(code).toBe(2)
    expect(stderr.match(/REPORTING_ORG_REF is not set/g)).toHaveLength(1)
    expect(stderr).not.toContain('is started again')
  })

  it('is missed where a run waits: status says it at once, and one of two API processes alarms', async () => {
    const told: AlarmChange[] = []
    const receiver = createServer(async (request, response) => {
      told.push(...((await json(request)) as { alarms: AlarmChange[] }).alarms)
      response.end()
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    onTestFinished(() => void receiver.close())
    const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const settings = { DATABASE_URL: url, REPORTING_ORG_REF: 'US-EIN-123456789', PUBLISH_SCHEDULE: '0 0 29 2 *' }
    const alerts = { ALERT_WEBHOOK_URL: hook, ALERT_WEBHOOK_SECRET: 'seven-quiet-rivers' }
    const installation = await newInstallation({ ...settings, ...alerts })
    onTestFinished(() => installation.remove())
    const both = [await installation.serve('api'), await installation.serve('api')]
    const { id } = await createRun(store.db, { trigger: 'manual', at: new Date() })
    const waits = new RegExp(`run ${id} waits since .*, and no worker is running`)
    const status = await installation.runHere(['status'])
    expect(status).toMatchObject({ code: 1, stdout: expect.stringMatching(waits) as string })
    const ofWorkers = () => told.filter(({ cause }) => cause === 'no-worker')
    await expect.poll(() => ofWorkers().length, patience).toBe(1)
    const worker = await start(alerts)
    // A minute in which both API processes have looked.
    await expect.poll(() => ofWorkers().length, patience).toBe(2)
    const message = expect.stringMatching(waits) as string
    expect(ofWorkers()).toEqual(['new', 'over'].map((state) => expect.objectContaining({ state, message }) as object))
    for (const one of [worker, ...both]) one.kill('SIGTERM')
    expect(await Promise.all([worker, ...both].map(({ ended }) => ended))).toEqual([0, 0, 0])
  })

  async function publish(): Promise<void> {
    const { id } = await createRun(store.db, { trigger: 'manual', at: new Date(), force: true })
    await expect.poll(async () => isFinished((await getRun(store.db, id)) ?? { state: 'queued' }), patience).toBe(true)
  }
})

type Line = {
  readonly msg: string
  readonly pid: number
  readonly childPid?: number
  readonly process?: number
  readonly signal?: string
}

/** The log, whose every line is whole. */
function linesOf(worker: RunningService): Line[] {
  const lines = worker.output().split('\n')
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line)
}

/** The processes that said that they are ready, in the order of starting. */
function readyProcesses(worker: RunningService) {
  const ready = linesOf(worker).filter(({ msg }) => msg === 'worker ready')
  return ready.map(({ process, pid }) => ({ process, pid }))
}

/** What they say comes through other pipes than what the supervisor says, so it may come after it. */
async function bothReady(worker: RunningService) {
  await expect.poll(() => readyProcesses(worker).length, patience).toBe(2)
  return readyProcesses(worker)
}

function addressOf(worker: RunningService): string {
  return /metrics on (http:\S+)\/metrics/.exec(worker.output())?.[1] ?? ''
}

async function health(worker: RunningService): Promise<number> {
  return (await fetch(`${addressOf(worker)}/healthz`)).status
}

async function metrics(worker: RunningService): Promise<Map<string, number>> {
  const text = await (await fetch(`${addressOf(worker)}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A module that on SIGUSR2 fills the young generation, after a thread has ended, and says its size. */
async function youngGenerationTeller(): Promise<string> {
  const folder = await temporaryFolder()
  const library = path.join(folder, 'library.mjs')
  const grows = 'const kept = []; for (let i = 0; i < 2_000_000; i++) kept[i % 200_000] = { i }'
  const young = `getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size`
  await writeFile(
    library,
    `import { getHeapSpaceStatistics } from 'node:v8'
    import { Worker } from 'node:worker_threads'
    const tell = () => { ${grows}; process.emitWarning('young generation ' + ${young}) }
    process.on('SIGUSR2', () => new Worker('', { eval: true }).on('exit', tell))\n`,
  )
  return library
}
