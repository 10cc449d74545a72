import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { forkStripped } from '../../../support/commands/cli.js'
import type { Fault } from './counted-calls.js'
import type { Counted, Order } from './process.js'

/** What processes of one trial are given. */
export type ProcessPlace = {
  readonly environment: Readonly<Record<string, string>>
  /** Files below these folders are counted. */
  readonly folders: readonly string[]
  /** Neither files nor SQL are counted. */
  readonly onlyNetworks?: boolean
}

/** What came of an order: `killed` when the process was killed at its call. */
export type Outcome = Counted | 'killed'

/** Processes of `giving` whose calls fail, one at a time; a killed one is replaced by one that has started meanwhile. */
export class GivingProcesses implements AsyncDisposable {
  readonly #place: ProcessPlace
  readonly #all: ChildProcess[] = []
  #current: ChildProcess | undefined
  #next: Promise<ChildProcess>

  constructor(place: ProcessPlace) {
    this.#place = place
    this.#next = this.#fork()
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], fault?: Fault): Promise<Outcome> {
    return await this.#tell({ run: args, ...(fault && { fault }) })
  }

  /** Mails the receipts that are due. */
  async mail(smtpUrl: string, fault?: Fault): Promise<Outcome> {
    return await this.#tell({ mail: smtpUrl, ...(fault && { fault }) })
  }

  /** Starts a service; returns its address, where it has one. */
  async serve(command: 'api' | 'worker'): Promise<string> {
    const child = await this.#process()
    child.send({ run: [command] } satisfies Order)
    const { address } = (await this.#answer(child, (message) => 'address' in message)) as { address: string }
    return address
  }

  /** Counts the calls of a service from now on. */
  async count(fault?: Fault): Promise<void> {
    await this.#tell({ count: true, ...(fault && { fault }) })
  }

  /** What was counted since; no call fails any more. */
  async report(): Promise<Outcome> {
    return await this.#tell({ report: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#next
    for (const child of this.#all) child.kill('SIGKILL')
    await Promise.all(this.#all.map((child) => (isOver(child) ? undefined : once(child, 'exit'))))
  }

  async #tell(order: Order): Promise<Outcome> {
    const child = await this.#process()
    if (isOver(child)) {
      this.#current = undefined
      return 'killed'
    }
    child.send(order, () => undefined)
    return (await this.#answer(child, (message) => 'calls' in message)) as Outcome
  }

  /** The process that is told what to do; replaced once it was found killed. */
  async #process(): Promise<ChildProcess> {
    if (this.#current) return this.#current
    const child = await this.#next
    this.#current = child
    this.#next = this.#fork()
    if (!ready.has(child)) await Promise.race([once(child, 'message'), once(child, 'exit')])
    if (isOver(child)) throw new Error(`a process ended with ${child.exitCode ?? child.signalCode} before it was ready`)
    return child
  }

  async #answer(child: ChildProcess, wanted: (message: object) => boolean): Promise<object | 'killed'> {
    return await new Promise((resolve, reject) => {
      const look = (message: object) => {
        if (!wanted(message)) return
        child.off('exit', ended)
        child.off('message', look)
        resolve(message)
      }
      const ended = (code: number | null, signal: NodeJS.Signals | null) => {
        if (signal !== 'SIGKILL') return reject(new Error(`the process ended with ${code ?? signal}`))
        this.#current = undefined
        resolve('killed')
      }
      child.on('message', look)
      child.once('exit', ended)
    })
  }

  async #fork(): Promise<ChildProcess> {
    const { environment, folders, onlyNetworks = false } = this.#place
    const databasePort = Number(new URL(environment.DATABASE_URL ?? '').port)
    const told = JSON.stringify({ environment, folders, databasePort, onlyNetworks })
    const child = await forkStripped('test/campaign/support/call-faults/process.ts', [told])
    child.once('message', () => ready.add(child))
    this.#all.push(child)
    return child
  }
}

const ready = new WeakSet<ChildProcess>()

const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null
