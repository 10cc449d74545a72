import { setTimeout as sleep } from 'node:timers/promises'
import { type Job, type Processor, UnrecoverableError, WaitingError } from 'bullmq'
import { errorKinds, toServiceError } from '../src/kernel/errors.js'
import type { Try } from '../src/work/attempt.js'
import type { EngineWorker } from './engine.js'

/** One delivery of a job, independent of BullMQ's types. */
export type JobCall = Try & {
  /** The same for every try of one job. */
  readonly id: string
  readonly name: string
  readonly data: unknown
  /** For jobs of a scheduler: the instant that this one was due at. */
  readonly dueAt?: Date
  /** Shows the job's progress in the queue; a failure to do so is ignored. */
  report(progress: object): void
}

/** Handles the jobs of one queue. */
export type JobHandler = (call: JobCall) => Promise<string>

/** A running consumer of one queue. */
export class QueueWorker {
  readonly #handler: JobHandler
  readonly #worker: EngineWorker
  readonly #deliveries = new Set<Promise<unknown>>()
  #stopping = false

  constructor(handler: JobHandler, start: (processor: Processor) => EngineWorker) {
    this.#handler = handler
    // All three parameters must be declared: BullMQ gives the signal only to functions that have the third.
    this.#worker = start((job, token, signal) => this.#deliver(job, token, signal))
  }

  async waitUntilReady(): Promise<void> {
    await this.#worker.waitUntilReady()
  }

  /** Takes no further jobs; those at work go on. A job that still arrives is put back. */
  pause(): void {
    this.#stopping = true
    this.#worker.pause(true).catch(() => undefined)
  }

  /** Resolves to true when nothing is being worked on any more, or to false after `ms`. */
  async idle(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    while (this.#deliveries.size > 0) {
      const left = deadline - performance.now()
      if (left <= 0) return false
      await Promise.race([Promise.allSettled(this.#deliveries), sleep(left, undefined, { ref: false })])
    }
    return true
  }

  abort(): void {
    this.#worker.cancelAllJobs('shutdown')
  }

  /** Closes the connections within 2 s; a job that is still at work then is left to another worker. */
  async close(): Promise<void> {
    this.#stopping = true
    await closeSoon({
      close: () => this.#worker.close(this.#deliveries.size > 0),
      disconnect: () => this.#worker.disconnect(),
    })
  }

  async #deliver(job: Job, token: string | undefined, signal = new AbortController().signal): Promise<string> {
    if (this.#stopping) {
      // A pausing or closing worker that was waiting for a job still fetches one when the wait is broken off.
      await job.moveToWait(token)
      throw new WaitingError()
    }
    const work = this.#handler(toCall(job, signal))
    this.#deliveries.add(work)
    try {
      return await work
    } catch (error) {
      throw isIncurable(error) ? new UnrecoverableError(toServiceError(error).message) : toServiceError(error)
    } finally {
      this.#deliveries.delete(work)
    }
  }
}

function toCall(job: Job, signal: AbortSignal): JobCall {
  const { id = '' } = job
  const { attempts = 1, backoff, prevMillis } = job.opts
  const firstWaitMs = typeof backoff === 'object' ? (backoff.delay ?? 0) : 0
  return {
    id,
    name: job.name,
    data: job.data,
    // A scheduler's job is called `repeat:<scheduler>:<milliseconds>` and has the instant in its options as well.
    ...(job.repeatJobKey && { dueAt: new Date(prevMillis ?? Number(id.split(':').at(-1))) }),
    signal,
    nextTryMs: firstWaitMs * 2 ** job.attemptsMade,
    report: (progress) => void job.updateProgress(progress).catch(() => undefined),
    isLast: (error) => isIncurable(error) || job.attemptsMade + 1 >= attempts,
  }
}

/** Closes, by force after 1.5 s: a queue that is away cannot hold up a shutdown. */
export async function closeSoon(what: { close(): Promise<void>; disconnect(): Promise<void> }): Promise<void> {
  const closed = what.close().catch(() => undefined)
  const done = await Promise.race([closed.then(() => true), sleep(1500, false, { ref: false })])
  if (!done) await Promise.race([what.disconnect().catch(() => undefined), sleep(500, undefined, { ref: false })])
}

/** Whether trying again cannot help. */
function isIncurable(error: unknown): boolean {
  return errorKinds[toServiceError(error).code].remedy === 'stop'
}
