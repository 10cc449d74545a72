import { openStore } from '../../src/store/store.js'
import { runProgram } from './child.js'
import { peakMemoryMiB } from './memory.js'
import { createBenchPublisher, openOfficialSchema, type Rendered } from './publisher.js'

/** What a worker process is to do: whole runs, one after the other. */
export type WorkerTask = {
  readonly url: string
  readonly feedsDir: string
  readonly checks: 'all' | 'none'
  /** A run a day, from `at` on. */
  readonly runs: readonly { readonly at: string; readonly force?: boolean; readonly publish?: boolean }[]
}

export type WorkerRun = {
  readonly render: Rendered
  readonly publish?: { readonly seconds: number; readonly state: string }
}

export type WorkerResult = { readonly runs: readonly WorkerRun[]; readonly peakMiB: number; readonly schema: boolean }

/** Renders and publishes in a process of its own. */
export async function runWorker(task: WorkerTask): Promise<WorkerResult> {
  return await runProgram<WorkerResult>('bench/suite/worker.ts', task)
}

async function work({ url, feedsDir, checks, runs }: WorkerTask): Promise<WorkerResult> {
  await using store = openStore({ url, max: 4, applicationName: 'bench worker' })
  const xsd = checks === 'all' ? await openOfficialSchema() : undefined
  const publisher = createBenchPublisher({ store, feedsDir, checks, xsd })
  const done: WorkerRun[] = []
  for (const { at, force, publish } of runs) {
    const run = await publisher.begin(new Date(at), force)
    const render = await publisher.render(run)
    if (!publish) done.push({ render })
    else {
      const { seconds, state } = await publisher.publish(run)
      done.push({ render, publish: { seconds, state } })
    }
  }
  xsd?.dispose()
  return { runs: done, peakMiB: peakMemoryMiB(), schema: xsd !== undefined }
}

if (process.argv[1] === import.meta.filename) {
  const result = await work(JSON.parse(process.argv[2] ?? '') as WorkerTask)
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
