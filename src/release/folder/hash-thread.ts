import { parentPort } from 'node:worker_threads'
import { ServiceError } from '../../kernel/errors.js'
import type { HashAnswer, HashOrder } from './hash-beside.js'
import { hashSpans } from './hash-spans.js'

// What a thread that hashes runs: orders, one after the other.
let before: Promise<void> = Promise.resolve()
parentPort?.on('message', ({ number, order }: HashOrder) => {
  before = before.then(async () => parentPort?.postMessage(await answerTo({ number, order })))
})

async function answerTo({ number, order }: HashOrder): Promise<HashAnswer> {
  try {
    return { number, hash: await hashSpans(order, { alone: true }) }
  } catch (error) {
    const corrupt = error instanceof ServiceError && error.code === 'release-corrupt' ? error.message : undefined
    return { number, error, corrupt }
  }
}
