import { parentPort, workerData } from 'node:worker_threads'
import { ServiceError } from '../../kernel/errors.js'
import type { SchemaReply, SchemaRequest } from './threaded-xsd.js'
import { createXsdValidator } from './xsd.js'

// What the thread of the official schema runs.

const port = parentPort
if (!port) throw new Error('this program is a thread of another')
const say = (reply: SchemaReply) => port.postMessage(reply)

const opening = createXsdValidator(workerData as string)
// When the schemas cannot be used, every question is answered with the reason.
opening.catch(() => undefined)
port.on('message', async ({ block, lengths, kind, namespaces }: SchemaRequest) => {
  try {
    const xsd = await opening
    let end = 0
    const records = lengths.map((length) => {
      end += length
      return Buffer.from(block.buffer, end - length, length)
    })
    say({ kind: 'checked', notices: xsd?.validate(records, kind, namespaces) ?? [] })
  } catch (error) {
    say({ kind: 'failed', code: error instanceof ServiceError ? error.code : undefined, error })
  }
})
