import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { holdYoungGeneration } from '../../src/cli/wiring/young-generation.js'
import type { IdRange, Run } from '../../src/work/run.js'
import { peakMemoryMiB } from './memory.js'
import type { Published, Rendered } from './publisher.js'

/** What a worker process works on. */
export type WorkerOptions = {
  /** Folder with the official schemas, if there are any. */
  readonly standardDir: string | undefined
  readonly url: string
  readonly feedsDir: string
  /** `none`: neither our checks nor the official schema. */
  readonly checks: 'all' | 'none'
  /** Everything is read, mapped and checked, and nothing stored. */
  readonly discards?: boolean
}

/** One run: everything stale is rendered, then published if asked for. */
type RunOrder = { readonly at: string; readonly force?: boolean; readonly publish?: boolean }

/** One shard of a run that several processes share. */
type ShardOrder = { readonly run: Run; readonly shard: IdRange }

type RenderedShard = { readonly rendered: number; readonly cpuSeconds: number }

type WorkerRun = {
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
export type BenchWorker = AsyncDisposable & {
  run(order: RunOrder): Promise<WorkerRun>
  renderShard(order: ShardOrder): Promise<RenderedShard>
}

/** Starts a worker process of the transpiled program. */
export function openProcess(program: string, options: WorkerOptions): BenchWorker {
  const child = fork(path.join(program, 'bench/suite/worker.js'), [JSON.stringify(options)], { execArgv: [] })
  const ask = async (order: RunOrder | ShardOrder) => {
    const answer = nextMessage(child)
    child.send(order)
    return await answer
  }
  return {
    run: async (order) => (await ask(order)) as WorkerRun,
    renderShard: async (order) => (await ask(order)) as RenderedShard,
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

/** The process itself: one run or shard for each message, until its owner has ended. */
async function serve({ url, feedsDir, checks, standardDir, discards = false }: WorkerOptions): Promise<void> {
  // As `giving worker` does.
  holdYoungGeneration()
  const { goBehindOthers, tuneWorker } = await import('../../src/cli/wiring/process.js')
  const { openStore } = await import('../../src/platform/database/store.js')
  const { openBenchPublisher } = await import('./publisher.js')
  tuneWorker()
  goBehindOthers()
  await using store = openStore({ url, max: 4, applicationName: 'bench worker' })
  if (discards) Object.assign(store, { transaction: async () => undefined })
  await using publisher = await openBenchPublisher({ store, feedsDir, checks, standardDir })
  const renderShard = async ({ run, shard }: ShardOrder): Promise<RenderedShard> => {
    const before = process.cpuUsage()
    const startedAt = new Date(run.startedAt)
    const { rendered } = await publisher.renderShard({ ...run, startedAt }, shard)
    const { user, system } = process.cpuUsage(before)
    return { rendered, cpuSeconds: (user + system) / 1e6 }
  }
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
  process.on('message', (order: RunOrder | ShardOrder) => {
    const done: Promise<WorkerRun | RenderedShard> = 'shard' in order ? renderShard(order) : work(order)
    done.then(
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
