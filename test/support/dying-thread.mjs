import { parentPort } from 'node:worker_threads'

// A thread that says it is ready and dies of its first work.
parentPort.on('message', () => process.exit(3))
parentPort.postMessage({ kind: 'ready', version: 'none' })
