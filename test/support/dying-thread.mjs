import { parentPort } from 'node:worker_threads'

// A rendering thread that dies of its first batch.
parentPort.on('message', () => process.exit(3))
parentPort.postMessage({ kind: 'ready', schemaVersion: undefined })
