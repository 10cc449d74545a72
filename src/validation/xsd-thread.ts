import { parentPort, workerData } from 'node:worker_threads'
import { ServiceError } from '../domain/errors.js'
import type { SchemaReply, SchemaRequest } from './threaded-xsd.js'
import { createXsdValidator } from './xsd.js'

// What the thread of the official schema runs.

const port = parentPort
if (!port) throw new Error('this program is a thread of another')
const say = (reply: SchemaReply) => port.postMessage(reply)
const complain = (error: unknown) =>
  say({ kind: 'failed', code: error instanceof ServiceError ? error.code : undefined, error })

try {
  const xsd = await createXsdValidator(workerData as string)
  port.on('message', ({ block, lengths, kind, namespaces }: SchemaRequest) => {
    try {
      let end = 0
      const records = lengths.map((length) => {
        end += length
        return Buffer.from(block.buffer, end - length, length)
      })
      say({ kind: 'checked', notices: xsd?.validate(records, kind, namespaces) ?? [] })
    } catch (error) {
      complain(error)
    }
  })
  say({ kind: 'ready', version: xsd?.version })
} catch (error) {
  complain(error)
}
