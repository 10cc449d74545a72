import { addAbortListener } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../../kernel/errors.js'
import { joiningFiles, refuseAborted } from '../../kernel/refuse-aborted.js'
import { hashSpans, type SpansHash, type SpansOrder } from './hash-spans.js'

/** What a thread is asked, and what it answers. */
export type HashOrder = { readonly number: number; readonly order: SpansOrder }
export type HashAnswer = { readonly number: number } & (
  | { readonly hash: SpansHash }
  | { readonly error: unknown; readonly corrupt?: string | undefined }
)

// Hashing fewer bytes, of all orders together, takes less than a thread's start and its memory are worth.
const fewBytes = 100_000_000

// `.ts` when the sources run directly, else `.js`.
const ownProgram = new URL(`./hash-thread${extname(import.meta.url)}`, import.meta.url)

// A thread allocates little beside its read buffer.
const resourceLimits = { maxYoungGenerationSizeMb: 1 }

type Waiting = { readonly resolve: (hash: SpansHash) => void; readonly reject: (error: unknown) => void }

/** Hashes spans of files: many bytes in a thread of its own, which takes one order after the other. */
export class Hasher implements AsyncDisposable {
  readonly #program: URL
  #thread: HashThread | undefined
  readonly #listeners = new Map<AbortSignal, Disposable>()
  #bytes = 0

  /** Where many bytes are likely to come, the thread starts at once, while others work. Tests have a `program` of their own. */
  constructor(likelyBytes = 0, program = ownProgram) {
    this.#program = program
    if (likelyBytes > fewBytes) this.#thread = new HashThread(program)
  }

  /** Throws `aborted` on the signal, and `release-corrupt` when a file ends before its span. */
  async hash(order: SpansOrder, signal: AbortSignal): Promise<SpansHash> {
    refuseAborted(signal, joiningFiles)
    const bytes = order.spans.reduce((sum, { span: [start, end] }) => sum + end - start, 0)
    this.#bytes += bytes
    if (this.#bytes > fewBytes) this.#thread ??= new HashThread(this.#program)
    if (!this.#thread) return await hashSpans(order, { alone: false, signal })
    if (!this.#listeners.has(signal)) {
      this.#listeners.set(
        signal,
        addAbortListener(signal, () => void this[Symbol.asyncDispose]()),
      )
    }
    try {
      return await this.#thread.hash(order)
    } catch (error) {
      refuseAborted(signal, joiningFiles)
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const listener of this.#listeners.values()) listener[Symbol.dispose]()
    this.#listeners.clear()
    const thread = this.#thread
    this.#thread = undefined
    await thread?.stop()
  }
}

class HashThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #orders = 0
  #failure: Error | undefined

  constructor(program: URL) {
    this.#worker = new Worker(program, { name: 'hash', resourceLimits })
    this.#worker.on('message', (answer: HashAnswer) => {
      const waiting = this.#waiting.get(answer.number)
      this.#waiting.delete(answer.number)
      if ('hash' in answer) waiting?.resolve(answer.hash)
      else waiting?.reject(answer.corrupt ? new ServiceError('release-corrupt', answer.corrupt) : answer.error)
    })
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.on('exit', (code) => this.#end(new Error(`the thread that hashes ended with ${code}`)))
  }

  async hash(order: SpansOrder): Promise<SpansHash> {
    if (this.#failure) throw this.#failure
    const number = this.#orders++
    return await new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject })
      this.#worker.postMessage({ number, order } satisfies HashOrder)
    })
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }

  #end(error: Error): void {
    this.#failure ??= error
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
