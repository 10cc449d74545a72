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
const fewBytes = 128_000_000

// `.ts` when the sources run directly, else `.js`.
const ownProgram = new URL(`./hash-thread${extname(import.meta.url)}`, import.meta.url)

// A thread allocates little beside its read buffer.
const resourceLimits = { maxYoungGenerationSizeMb: 1 }

type Waiting = { readonly resolve: (hash: SpansHash) => void; readonly reject: (error: unknown) => void }

/** `isSparing`: memory counts for more than time. `program` is for tests, which hash everything in a thread. */
type HasherOptions = { readonly isSparing?: boolean; readonly program?: URL | undefined }

/** Hashes spans of files: many bytes in one or two threads of its own, each of which takes one order after the other. */
export class Hasher implements AsyncDisposable {
  readonly #program: URL | undefined
  readonly #mostThreads: number
  readonly #threads: HashThread[] = []
  readonly #signals = new WeakSet<AbortSignal>()
  #bytes = 0

  constructor({ isSparing = false, program }: HasherOptions = {}) {
    this.#mostThreads = isSparing ? 1 : 2
    this.#program = program
  }

  /** Throws `aborted` on the signal, and `release-corrupt` when a file ends before its span. */
  async hash(order: SpansOrder, signal: AbortSignal): Promise<SpansHash> {
    refuseAborted(signal, joiningFiles)
    const bytes = order.spans.reduce((sum, { span: [start, end] }) => sum + end - start, 0)
    this.#bytes += bytes
    if (this.#bytes <= fewBytes && !this.#program) return await hashSpans(order, { alone: false, signal })
    if (!this.#signals.has(signal)) signal.addEventListener('abort', () => void this[Symbol.asyncDispose]())
    this.#signals.add(signal)
    try {
      const isLong = bytes > fewBytes && this.#mostThreads > 1
      if (order.stamp === undefined || !isLong) return await this.#thread().hash(order)
      // Each thread reads the bytes for itself: the longest file is what others wait for.
      const { stamp, ...whole } = order
      const unstamped = { ...whole, head: whole.head.replace(stamp, ''), isChecked: false }
      const [hash, content] = await Promise.all([whole, unstamped].map((one) => this.#thread().hash(one)))
      return { ...(hash as SpansHash), ...(content && { contentSha256: content.sha256 }) }
    } catch (error) {
      refuseAborted(signal, joiningFiles)
      throw error
    }
  }

  /** The thread that has least to do. */
  #thread(): HashThread {
    const [idlest] = this.#threads.toSorted((one, other) => one.waiting - other.waiting)
    if (idlest && (idlest.waiting === 0 || this.#threads.length === this.#mostThreads)) return idlest
    const thread = new HashThread(this.#program ?? ownProgram)
    this.#threads.push(thread)
    return thread
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.stop()))
  }
}

class HashThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #orders = 0

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

  /** Orders that are not answered. */
  get waiting(): number {
    return this.#waiting.size
  }

  async hash(order: SpansOrder): Promise<SpansHash> {
    const number = this.#orders++
    return await new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject })
      this.#worker.postMessage({ number, order } satisfies HashOrder)
    })
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }

  #end(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
