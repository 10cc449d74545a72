import { Writable } from 'node:stream'
import { beginCounting, countCalls, counted, endCounting, type Fault } from './counted-calls.js'

/** What the process is told. */
export type Order =
  | { readonly run: readonly string[]; readonly fault?: Fault }
  | { readonly count: true; readonly fault?: Fault }
  | { readonly report: true }

/** How a command ended, or what was counted until now. */
export type Counted = {
  readonly code?: number
  readonly stderr: string
  readonly calls: number
  readonly met?: string | undefined
}

// One process of `giving` that runs command after command, each with a fault of its own, or a service while it is asked.
const { environment, folders, databasePort } = JSON.parse(process.argv[2] ?? '') as {
  environment: Record<string, string>
  folders: string[]
  databasePort: number
}
countCalls(folders, databasePort)
const { runProgram } = await import('../../../../src/commands/program.js')

const stop = new AbortController()
let printed = ''
const stream = new Writable({
  decodeStrings: false,
  write(chunk, _encoding, done) {
    printed += String(chunk)
    const address = /listening on (http:\S+)/.exec(String(chunk))?.[1]
    if (address !== undefined) process.send?.({ address })
    done()
  },
})
const host = { environment, stdin: process.stdin, stdout: stream, stderr: stream, signal: stop.signal }
const answer = (code?: number) => {
  const { calls, met } = counted
  process.send?.({ stderr: printed, calls, met, ...(code !== undefined && { code }) } satisfies Counted)
}

process.on('message', async (order: Order) => {
  if ('report' in order) {
    endCounting()
    return answer()
  }
  printed = ''
  beginCounting(order.fault)
  if ('count' in order) return answer()
  const code = await runProgram(order.run, host)
  endCounting()
  answer(code)
})
process.once('disconnect', () => process.exit(1))
process.send?.('ready')
