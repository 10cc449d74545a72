import { parentPort } from 'node:worker_threads'

// A thread that dies of its first work.
parentPort.on('message', () => process.exit(3))
