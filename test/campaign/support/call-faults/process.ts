import { Writable } from 'node:stream'
import { beginCounting, type CountedPlace, countCalls, counted, endCounting, type Fault } from './counted-calls.js'

/** What the process is told. */
export type Order =
  | { readonly run: readonly string[]; readonly fault?: Fault }
  | { readonly mail: string; readonly fault?: Fault }
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
const { environment, ...place } = JSON.parse(process.argv[2] ?? '') as CountedPlace & {
  environment: Record<string, string>
}
countCalls(place)
const { runProgram } = await import('../../../../src/cli/program.js')
const { mailReceipts } = await import('../../../support/money/mail-receipts.js')

const stop = new AbortController()
let printed = ''
const stream = new Writable({
  decodeStrings: false,
  write(chunk, _encoding, done) {
    printed += String(chunk)
    const [ready, address] = /worker ready|listening on (http:[^\s"]+)/.exec(String(chunk)) ?? []
    if (ready !== undefined) process.send?.({ address: address ?? '' })
    done()
  },
})
// As text, a service tells on this stream that it is ready.
const told = { ...environment, LOG_FORMAT: 'text' }
const host = { environment: told, stdin: process.stdin, stdout: stream, stderr: stream, signal: stop.signal }
const answer = (code?: number) => {
  const { calls, met } = counted
  process.send?.({ stderr: printed, calls, met, ...(code !== undefined && { code }) } satisfies Counted)
}

/** Mails the receipts that are due, as a job of the worker does every minute. */
async function mail(smtpUrl: string): Promise<number> {
  try {
    const { later, ended } = await mailReceipts(environment.DATABASE_URL ?? '', smtpUrl)
    return later + ended === 0 ? 0 : 2
  } catch (error) {
    printed += String(error)
    return 2
  }
}

process.on('message', async (order: Order) => {
  if ('report' in order) {
    endCounting()
    return answer()
  }
  printed = ''
  beginCounting(order.fault)
  if ('count' in order) return answer()
  const code = 'mail' in order ? await mail(order.mail) : await runProgram(order.run, host)
  endCounting()
  answer(code)
})
process.once('disconnect', () => process.exit(1))
process.send?.('ready')
