import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { openStore } from '../../src/store/store.js'
import { peakMemoryMiB } from './memory.js'
import { openBenchPublisher, type Published, type Rendered } from './publisher.js'

/** What a worker process works on. */
export type WorkerOptions = {
  /** Folder with the official schemas, if there are any. */
  readonly standardDir: string | undefined
  readonly url: string
  readonly feedsDir: string
  /** `none`: neither our checks nor the official schema. */
  readonly checks: 'all' | 'none'
}

/** One run: everything stale is rendered, then published if asked for. */
export type RunOrder = { readonly at: string; readonly force?: boolean; readonly publish?: boolean }

export type WorkerRun = {
  readonly render: Rendered
  readonly publish?: Published
  /** Of the whole run. */
  readonly seconds: number
  /** Processor time of the process during the run, all threads together. */
  readonly cpuSeconds: number
  /** The most memory that the process has had so far. */
  readonly peakMiB: number
}

/** A worker in a process of its own, which ends with its owner. */
export type BenchWorker = AsyncDisposable & { run(order: RunOrder): Promise<WorkerRun> }

/** Starts a worker process of the transpiled program. */
export function openProcess(program: string, options: WorkerOptions): BenchWorker {
  const child = fork(path.join(program, 'bench/suite/worker.js'), [JSON.stringify(options)], { execArgv: [] })
  return {
    run: async (order) => {
      const answer = nextMessage(child)
      child.send(order)
      return (await answer) as WorkerRun
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController()
  try {
    const [answer] = await Promise.race([
      once(child, 'message', { signal: ended.signal }),
      once(child, 'exit', { signal: ended.signal }).then(([code]) => {
        throw new Error(`the worker process ended with ${code}`)
      }),
    ])
    return answer
  } finally {
    ended.abort()
  }
}

/** The process itself: one run for each message, until its owner has ended. */
async function serve({ url, feedsDir, checks, standardDir }: WorkerOptions): Promise<void> {
  await using store = openStore({ url, max: 4, applicationName: 'bench worker' })
  await using publisher = await openBenchPublisher({ store, feedsDir, checks, standardDir })
  const work = async ({ at, force, publish }: RunOrder): Promise<WorkerRun> => {
    const cpuBefore = process.cpuUsage()
    const used = () => {
      const { user, system } = process.cpuUsage(cpuBefore)
      return { cpuSeconds: (user + system) / 1e6, peakMiB: peakMemoryMiB() }
    }
    const run = await publisher.begin(new Date(at), force)
    const render = await publisher.render(run)
    if (!publish) return { render, seconds: render.seconds, ...used() }
    const published = await publisher.publish(run)
    const seconds = render.seconds + published.releaseSeconds + published.bulkSeconds
    return { render, publish: published, seconds, ...used() }
  }
  process.on('message', (order: RunOrder) => {
    work(order).then(
      (result) => process.send?.(result),
      (error) => {
        process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
        process.exit(1)
      },
    )
  })
  await once(process, 'disconnect')
}

if (process.argv[1] === import.meta.filename) await serve(JSON.parse(process.argv[2] ?? '') as WorkerOptions)
