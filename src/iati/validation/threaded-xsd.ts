import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type ErrorCode, ServiceError } from '../../kernel/errors.js'
import type { Notice } from '../../kernel/notice.js'
import type { RecordKind } from './record.js'
import { hasSchemas, type SchemaCheck } from './xsd.js'

export type SchemaRequest = {
  /** All records in one block, which is handed over, and the length of each. */
  readonly block: Uint8Array<ArrayBuffer>
  readonly lengths: readonly number[]
  readonly kind: RecordKind
  readonly namespaces: Readonly<Record<string, string>> | undefined
}

export type SchemaReply =
  | { readonly kind: 'checked'; readonly notices: Notice[][] }
  | { readonly kind: 'failed'; readonly code: ErrorCode | undefined; readonly error: unknown }

type Waiter = { resolve(notices: Notice[][]): void; reject(error: unknown): void }

// `.ts` when the sources run directly, else `.js`.
const ownProgram = new URL(`./xsd-thread${extname(import.meta.url)}`, import.meta.url)

// The thread allocates little beside its messages.
const resourceLimits = { maxYoungGenerationSizeMb: 8 }

/**
 * The official schema in a thread of its own, for files whose check takes longer than a thread's start; undefined when
 * its files are not in `directory/schemas`. Questions may be asked while it starts; each is answered `standard-missing`
 * when the files cannot be used. `program` is for tests.
 */
export function openThreadedXsd(directory: string, program = ownProgram): SchemaCheck | undefined {
  if (!hasSchemas(directory)) return undefined
  const worker = new Worker(program, { workerData: directory, name: 'xsd', resourceLimits })
  // The thread answers in the order of the questions.
  const waiting: Waiter[] = []
  let ended: Error | undefined
  const end = (error: Error): void => {
    ended ??= error
    for (const { reject } of waiting.splice(0)) reject(ended)
  }
  worker.on('message', (reply: SchemaReply) => {
    const waiter = waiting.shift()
    if (reply.kind === 'failed') waiter?.reject(toError(reply))
    else waiter?.resolve(reply.notices)
  })
  worker.on('error', end)
  worker.on('exit', (code) => end(new Error(`the thread of the official schema ended with ${code}`)))
  const answer = () =>
    new Promise<Notice[][]>((resolve, reject) => {
      if (ended) reject(ended)
      else waiting.push({ resolve, reject })
    })
  // Only a question that waits for its answer keeps the process alive.
  worker.unref()
  return {
    validate: async (records, kind, namespaces) => {
      const lengths = records.map((record) => record.length)
      const block = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
      let at = 0
      for (const record of records) {
        block.set(record, at)
        at += record.length
      }
      worker.postMessage({ block, lengths, kind, namespaces } satisfies SchemaRequest, [block.buffer])
      worker.ref()
      const notices = await answer()
      if (waiting.length === 0) worker.unref()
      return notices
    },
    dispose: async () => void (await worker.terminate()),
  }
}

function toError({ code, error }: Extract<SchemaReply, { kind: 'failed' }>): unknown {
  return code !== undefined && error instanceof Error ? new ServiceError(code, error.message, { cause: error }) : error
}
