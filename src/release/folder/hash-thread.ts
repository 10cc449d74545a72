import { parentPort, workerData } from 'node:worker_threads'
import { hashSpans, type SpansOrder } from './hash-spans.js'

// What a thread that hashes runs: one order, given with its start.
parentPort?.postMessage(await hashSpans(workerData as SpansOrder, { alone: true }))
