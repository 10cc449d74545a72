import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { joiningFiles, refuseAborted } from '../../kernel/refuse-aborted.js'
import { hashSpans, type SpansHash, type SpansOrder } from './hash-spans.js'

// Hashing fewer bytes takes no longer than starting a thread.
const fewBytes = 64_000_000

// `.ts` when the sources run directly, else `.js`.
const ownProgram = new URL(`./hash-thread${extname(import.meta.url)}`, import.meta.url)

// The thread allocates little beside its read buffer.
const resourceLimits = { maxYoungGenerationSizeMb: 1 }

/** Hashes spans, many bytes in a thread of its own. Throws `aborted` on the signal. `program` is for tests. */
export async function hashBeside(order: SpansOrder, signal: AbortSignal, program?: URL): Promise<SpansHash> {
  const bytes = order.spans.reduce((sum, { span: [start, end] }) => sum + end - start, 0)
  if (bytes <= fewBytes && !program) return await hashSpans(order, { alone: false, signal })
  // Each reads the bytes for itself, one of them here; a second thread would take as much memory again.
  const { stamp, ...whole } = order
  const [beside, content] = await Promise.all([
    hashInThread(whole, signal, program ?? ownProgram),
    stamp !== undefined && hashSpans({ ...whole, head: whole.head.replace(stamp, '') }, { alone: false, signal }),
  ])
  return { ...beside, ...(content && { contentSha256: content.sha256 }) }
}

async function hashInThread(order: SpansOrder, signal: AbortSignal, program: URL): Promise<SpansHash> {
  refuseAborted(signal, joiningFiles)
  const worker = new Worker(program, { workerData: order, name: 'hash', resourceLimits })
  const stop = () => void worker.terminate()
  signal.addEventListener('abort', stop)
  const answered = new AbortController()
  try {
    const [hash] = await Promise.race([
      once(worker, 'message', answered),
      once(worker, 'exit', answered).then(([code]) => {
        refuseAborted(signal, joiningFiles)
        throw new Error(`the thread that hashes ended with ${code}`)
      }),
    ])
    return hash as SpansHash
  } finally {
    signal.removeEventListener('abort', stop)
    answered.abort()
  }
}
