import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { Readable, Writable } from 'node:stream'
import pg from 'pg'

/** What happens at a call: it fails, the process is killed, or from then on the clock is wrong. */
export const faultKinds = ['error', 'kill', 'clock'] as const
export type FaultKind = (typeof faultKinds)[number]

/** A fault at the call with this number; the first call has number 1. `variant` chooses how it fails. */
export type Fault = { readonly kind: FaultKind | Stop; readonly at: number; readonly variant: number }
/** The process stands still before the call, or once it has begun, until it is told to go on; it may die at the next call after that. */
export type Stop = 'stop-before' | 'stop-after' | 'stop-and-die'

/** The calls of this process to what is outside it, since they were last counted from 1. */
export const counted = {
  calls: 0,
  /** What the call of the fault was, such as `file rename`. */
  met: undefined as string | undefined,
}

let counting = false
let fault: Fault | undefined
let clockOffsetMs = 0

/** Counts from 1 on, with a fault or without. */
export function beginCounting(planned?: Fault): void {
  counting = true
  fault = planned
  counted.calls = 0
  counted.met = undefined
}

/** No call is counted any more, and the clock is right again. */
export function endCounting(): void {
  counting = false
  clockOffsetMs = 0
}

/** Counts a call; true when it must fail. */
function mustFail(call: string): boolean {
  if (!counting) return false
  counted.calls++
  if (fault?.kind === 'stop-and-die' && counted.calls === fault.at + 1) process.kill(process.pid, 'SIGKILL')
  if (!fault || counted.calls !== fault.at) return false
  counted.met = call
  if (fault.kind === 'kill') process.kill(process.pid, 'SIGKILL')
  if (fault.kind === 'stop-after') setImmediate(() => process.kill(process.pid, 'SIGSTOP'))
  else if (fault.kind.startsWith('stop')) process.kill(process.pid, 'SIGSTOP')
  const day = 86_400_000
  if (fault.kind === 'clock') clockOffsetMs = fault.variant % 2 === 0 ? 3 * day : -3 * day
  return fault.kind === 'error'
}

const failure = (code: string, syscall: string) =>
  Object.assign(new Error(`${code}: made by a test, ${syscall}`), { code, errno: -5, syscall })

/** The calls of a process that are counted; statements of SQL are, unless its networks are what is tried. */
export type CountedPlace = {
  readonly folders: readonly string[]
  readonly databasePort: number
  readonly onlyNetworks: boolean
}

/**
 * Puts the counter before every function of files below these folders, every statement of SQL, and every connection and
 * write of other sockets that this process opens: to a queue in Redis, an upstream, a processor, a mail server.
 */
export function countCalls({ folders, databasePort, onlyNetworks }: CountedPlace): void {
  countSockets(databasePort, onlyNetworks)
  if (!onlyNetworks) {
    countFiles(folders)
    countStatements()
  }
  const RealDate = Date
  globalThis.Date = class extends RealDate {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [RealDate.now() + clockOffsetMs] : given) as [number]))
    }
    static override now = () => RealDate.now() + clockOffsetMs
  } as DateConstructor
}

type Functions = Record<string, (this: unknown, ...given: unknown[]) => unknown>

const writing = /^(write|append|mkdir|sync|datasync|rename|symlink|link|copy|truncate)/

function countFiles(folders: readonly string[]): void {
  const below = (file: unknown) => typeof file === 'string' && folders.some((folder) => file.startsWith(folder))
  const promises = fs.promises as unknown as Functions
  for (const name of Object.keys(promises)) {
    const real = promises[name]
    if (typeof real !== 'function') continue
    promises[name] = async (...given) => {
      if (given.some(below) && mustFail(`file ${name}`)) throw failure(writing.test(name) ? 'ENOSPC' : 'EIO', name)
      const opened = await real.apply(promises, given)
      if (name === 'open' && below(given[0])) countHandle(opened as Functions)
      return opened
    }
  }
  const { createReadStream } = fs
  fs.createReadStream = ((...given: Parameters<typeof createReadStream>) => {
    const stream = createReadStream(...given)
    if (below(given[0]) && mustFail('file createReadStream')) stream.destroy(failure('EIO', 'read'))
    return stream
  }) as typeof createReadStream
  syncBuiltinESMExports()
}

function countHandle(handle: Functions): void {
  for (const name of [
    'read',
    'readFile',
    'write',
    'writev',
    'writeFile',
    'sync',
    'datasync',
    'stat',
    'close',
  ] as const) {
    const real = handle[name]
    handle[name] = async (...given) => {
      const fails = mustFail(`file ${name}`)
      // A handle that is left open would be another defect than the one that is tried.
      if (fails && name === 'close') await real?.apply(handle, given)
      if (fails) throw failure(writing.test(name) ? 'ENOSPC' : 'EIO', name)
      return await real?.apply(handle, given)
    }
  }
}

type Answer = (error: Error | null) => void

/** Before the statement the connection breaks, or the server is out of memory, or the answer of the statement is lost. */
function countStatements(): void {
  const client = pg.Client.prototype as unknown as Functions
  const real = client.query
  client.query = function (this: unknown, ...given) {
    const { stream } = (this as { connection: { stream: net.Socket } }).connection
    const text = typeof given[0] === 'string' ? given[0] : (given[0] as { text?: string }).text
    if (!mustFail(`SQL ${text?.trim().split(/\s+/).slice(0, 4).join(' ') ?? 'copy'}`)) return real?.apply(this, given)
    const cut = () => stream.destroy(failure('ECONNRESET', 'read'))
    // A COPY is a stream, not a promise.
    const copy = given[0] instanceof Readable || given[0] instanceof Writable ? given[0] : undefined
    const way = (fault?.variant ?? 0) % 3
    const asked = given[0] instanceof pg.Query ? (given[0] as unknown as { callback: Answer }) : undefined
    if (asked && way === 2) {
      const answer = asked.callback
      asked.callback = (error) => {
        if (!error) cut()
        answer(error ?? failure('ECONNRESET', 'read'))
      }
    }
    const result = way === 1 ? undefined : real?.apply(this, given)
    if (way === 0 || (way === 2 && copy)) cut()
    if (way === 2 && result instanceof Promise) {
      return result.then(() => {
        cut()
        throw failure('ECONNRESET', 'read')
      })
    }
    if (way !== 1) return result
    const refusal = Object.assign(new Error('out of memory'), { code: '53200', severity: 'ERROR' })
    if (copy) return copy.destroy(refusal)
    const callback = asked?.callback ?? (given.find((value) => typeof value === 'function') as Answer | undefined)
    if (!callback) return Promise.reject(refusal)
    process.nextTick(callback, refusal)
    return undefined
  }
}

function countSockets(databasePort: number, onlyNetworks: boolean): void {
  const socket = net.Socket.prototype as unknown as Functions
  const { connect } = socket
  socket.connect = function (this: unknown, ...given) {
    const own = this as net.Socket & Functions
    const target = JSON.stringify(given)
    const kind = target.includes(String(databasePort)) ? 'database' : 'network'
    if (kind === 'database' && onlyNetworks) return connect?.apply(this, given)
    if (mustFail(`${kind} connect`)) {
      process.nextTick(() => own.destroy(failure('ECONNREFUSED', 'connect')))
      return own
    }
    // It gives the socket the function that writes: what counts is put before that one.
    connect?.apply(this, given)
    // Each statement is counted itself.
    if (kind === 'network') countWrites(own)
    return own
  }
}

function countWrites(socket: net.Socket & Functions): void {
  const real = socket.write
  socket.write = (...given: unknown[]) => {
    if (mustFail('network write')) socket.destroy(failure('ECONNRESET', 'write'))
    return real.apply(socket, given as [string]) as boolean
  }
}
