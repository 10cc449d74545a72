import { setTimeout as sleep } from 'node:timers/promises'
import { type Processor, UnrecoverableError, WaitingError } from 'bullmq'
import { errorCatalogue, toServiceError } from '../src/domain/errors.js'
import type { Try } from '../src/runs/attempt.js'
import type { EngineWorker } from './engine.js'

/** One delivery of a job, without a trace of BullMQ. */
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

/** What is done with the jobs of one queue; `onGivenUp` hears of jobs that will not be tried again. */
export type JobHandler = {
  handle(call: JobCall): Promise<string>
  onGivenUp?(name: string, data: unknown, error: Error): void
}

/** What a consumer is doing: the deliveries at work, and whether it still accepts new ones. */
export type Activity = { readonly deliveries: Set<Promise<unknown>>; stopping: boolean }

/** BullMQ's processor for a handler. */
export function toProcessor(handler: JobHandler, activity: Activity): Processor {
  // All three parameters must be declared: BullMQ gives the signal only to functions that have the third.
  return async (job, token, signal) => {
    if (activity.stopping) {
      // A pausing or closing worker that was waiting for a job still fetches one when the wait is broken off.
      await job.moveToWait(token)
      throw new WaitingError()
    }
    const attempts = job.opts.attempts ?? 1
    const backoff = typeof job.opts.backoff === 'object' ? (job.opts.backoff.delay ?? 0) : 0
    const call: JobCall = {
      id: job.id ?? '',
      name: job.name,
      data: job.data,
      ...(job.repeatJobKey && { dueAt: toDueAt(job.id, job.opts.prevMillis) }),
      signal: signal ?? new AbortController().signal,
      nextTryMs: backoff * 2 ** job.attemptsMade,
      report: (progress) => void job.updateProgress(progress).catch(() => undefined),
      isLast: (error) => isIncurable(error) || job.attemptsMade + 1 >= attempts,
    }
    const work = handler.handle(call)
    activity.deliveries.add(work)
    try {
      return await work
    } catch (error) {
      throw toJobError(error)
    } finally {
      activity.deliveries.delete(work)
    }
  }
}

/** A running consumer of one queue. */
export class QueueWorker {
  readonly #worker: EngineWorker
  readonly #activity: Activity

  constructor(worker: EngineWorker, activity: Activity) {
    this.#worker = worker
    this.#activity = activity
  }

  /** Takes no further jobs; those at work go on. */
  async pause(): Promise<void> {
    this.#activity.stopping = true
    await this.#worker.pause(true)
  }

  /** Resolves to true when nothing is being worked on any more, or to false after `ms`. */
  async idle(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    while (this.#activity.deliveries.size > 0) {
      const left = deadline - performance.now()
      if (left <= 0) return false
      await Promise.race([Promise.allSettled(this.#activity.deliveries), sleep(left, undefined, { ref: false })])
    }
    return true
  }

  /** Aborts the jobs at work. */
  abort(): void {
    this.#worker.cancelAllJobs('shutdown')
  }

  /** Closes the connections within 2 s; a job that is still at work then is left to another worker. */
  async close(): Promise<void> {
    this.#activity.stopping = true
    await closeSoon({
      close: () => this.#worker.close(this.#activity.deliveries.size > 0),
      disconnect: () => this.#worker.disconnect(),
    })
  }
}

/** Closes, by force after 1.5 s: a queue that is away cannot hold up a shutdown. */
export async function closeSoon(what: { close(): Promise<void>; disconnect(): Promise<void> }): Promise<void> {
  const closed = what.close().catch(() => undefined)
  const done = await Promise.race([closed.then(() => true), sleep(1500, false, { ref: false })])
  if (!done) await Promise.race([what.disconnect().catch(() => undefined), sleep(500, undefined, { ref: false })])
}

/** What BullMQ is to do with a failed job: never again for `stop`, the next try for everything else. */
function toJobError(error: unknown): Error {
  const failure = toServiceError(error)
  return isIncurable(failure) ? new UnrecoverableError(failure.message) : failure
}

function isIncurable(error: unknown): boolean {
  return errorCatalogue[toServiceError(error).code].remedy === 'stop'
}

/** A scheduler's job is called `repeat:<scheduler>:<milliseconds>` and carries the instant in its options as well. */
function toDueAt(id: string | undefined, prevMillis: number | undefined): Date {
  return new Date(prevMillis ?? Number(id?.slice(id.lastIndexOf(':') + 1)))
}
