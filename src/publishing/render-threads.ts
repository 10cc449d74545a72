import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../domain/errors.js'
import type { MappingConfig } from '../feeds/iati/mapping.js'
import { type RenderReply, type RenderRequest, type ThreadOptions, type Trouble, toBuffers } from './render-messages.js'
import type { RenderedProject } from './render-project.js'
import type { Renderer, RenderSource } from './renderer.js'
import type { StageListener } from './stages.js'

/** Threads that render; they end with `close`, and each when it has had nothing to do for a while. */
export type RenderThreads = Renderer & { close(): Promise<void> }

export type RenderThreadsOptions = {
  readonly mapping: MappingConfig
  /** Folder with the official schemas, where there is one. */
  readonly standardDir?: string | undefined
  /** How many work at a time. Each has a heap of its own, and its own copy of the official schema. */
  readonly threads: number
  readonly onStage?: StageListener | undefined
  /** What a thread runs; benches have one that does not check. */
  readonly program?: URL
}

type Waiter<T> = { resolve(value: T): void; reject(error: unknown): void }

type Thread = {
  readonly worker: Worker
  /** Whether a batch is on its way to it or in work. */
  taken: boolean
  /** Whoever waits for its start. */
  starting: Waiter<void> | undefined
  /** Whoever waits for the batch that it works on. */
  working: Waiter<RenderedProject[]> | undefined
  resting: NodeJS.Timeout | undefined
}

// Beside this file and of its kind: sources run as they are too.
const ownProgram = new URL(`./render-thread${extname(import.meta.url)}`, import.meta.url)

// Longer than the pause between two batches or shards: afterwards the memory is the release's.
const restMs = 400

// Batches are small and short-lived: half of the usual space for new objects costs no time and saves 30 MB a thread.
const resourceLimits = { maxYoungGenerationSizeMb: 24 }

/**
 * Starts the first thread, which proves that threads can start and that the official schema can be used (else
 * `standard-missing`); others follow when there is more work than it can do at a time. One that starts later reads the
 * schema as it is then: after a pull, the next run checks everything anew. One that dies takes the batch with it that it
 * worked on: that rendering fails, and the next gets a new thread.
 */
export async function openRenderThreads(options: RenderThreadsOptions): Promise<RenderThreads> {
  const threads = new Set<Thread>()
  const waiting: (() => void)[] = []
  let closed = false
  let schemaVersion: string | undefined

  const start = (): Thread => {
    const { mapping, standardDir, onStage, program = ownProgram } = options
    const workerData: ThreadOptions = { mapping, standardDir, timed: onStage !== undefined }
    const worker = new Worker(program, { workerData, name: 'render', resourceLimits })
    const thread: Thread = { worker, taken: true, starting: undefined, working: undefined, resting: undefined }
    threads.add(thread)
    worker.on('message', (reply: RenderReply) => {
      if (reply.kind === 'ready') {
        schemaVersion = reply.schemaVersion
        thread.starting?.resolve()
        thread.starting = undefined
      } else if (reply.kind === 'unable') {
        lose(thread, toError(reply))
        void worker.terminate()
      } else {
        const { working } = thread
        free(thread)
        if (reply.kind === 'failed') return working?.reject(toError(reply))
        for (const [stage, ms] of reply.stages) onStage?.(stage, ms)
        working?.resolve(toBuffers(reply.projects))
      }
    })
    worker.on('error', (error) => lose(thread, error))
    worker.on('exit', (code) => lose(thread, new Error(`a rendering thread ended with ${code}`)))
    return thread
  }

  const lose = (thread: Thread, error: unknown): void => {
    threads.delete(thread)
    clearTimeout(thread.resting)
    thread.starting?.reject(error)
    thread.working?.reject(error)
    thread.starting = undefined
    thread.working = undefined
    waiting.shift()?.()
  }

  const free = (thread: Thread): void => {
    thread.taken = false
    thread.working = undefined
    // Only work in progress keeps the process alive.
    thread.worker.unref()
    thread.resting = setTimeout(() => {
      threads.delete(thread)
      void thread.worker.terminate()
    }, restMs).unref()
    waiting.shift()?.()
  }

  /** A thread that is nobody else's. */
  const take = async (): Promise<Thread> => {
    for (;;) {
      if (closed) throw new ServiceError('aborted', 'rendering has ended')
      for (const thread of threads) {
        if (thread.taken) continue
        thread.taken = true
        clearTimeout(thread.resting)
        thread.worker.ref()
        return thread
      }
      if (threads.size < options.threads) return start()
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }

  const first = start()
  await new Promise<void>((resolve, reject) => {
    first.starting = { resolve, reject }
  })
  free(first)

  return {
    width: options.threads,
    get schemaVersion() {
      return schemaVersion
    },
    render: async (projects: readonly RenderSource[], startedAt: Date) => {
      const thread = await take()
      return await new Promise<RenderedProject[]>((resolve, reject) => {
        thread.working = { resolve, reject }
        thread.worker.postMessage({ projects, startedAt } satisfies RenderRequest)
      })
    },
    close: async () => {
      closed = true
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
      for (const wake of waiting.splice(0)) wake()
    },
  }
}

function toError({ code, error }: Trouble): unknown {
  if (code === undefined || !(error instanceof Error)) return error
  return new ServiceError(code, error.message, { cause: error })
}
