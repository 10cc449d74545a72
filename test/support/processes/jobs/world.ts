import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import type { QueueConnection } from '../../../../jobs/engine.js'
import { type JobQueue, openQueue, type QueueSettings } from '../../../../jobs/queue.js'
import { startWorker, type Worker, type WorkerDeps } from '../../../../jobs/worker.js'
import type { Clock } from '../../../../src/kernel/dates.js'
import { readConfig } from '../../../../src/platform/config/config.js'
import { openStore, type Store } from '../../../../src/platform/database/store.js'
import type { Log } from '../../../../src/platform/observability/log.js'
import { listRuns, type RunSummary } from '../../../../src/work/sql/runs.js'
import { forkStripped } from '../../commands/cli.js'
import { resetTables, tablePublication } from './table-publication.js'

/** What a worker of a test may differ in. */
export type WorkerOptions = {
  readonly schedule?: string
  readonly shutdownSeconds?: number
  readonly watchdog?: WorkerDeps['watchdog']
}

/** What a separate worker process needs to be told. */
export type WorkerProcessOptions = WorkerOptions & { readonly url: string; readonly connection: QueueConnection }

/** Never due while a test runs. */
export const neverSoon = '0 0 29 2 *'
const lockSeconds = 2
const quick = { lockSeconds, attempts: 3, backoffMs: 50 }

/** Everything a worker needs, with locks short enough for tests. */
export function workerDeps(store: Store, options: WorkerProcessOptions, log: Log): WorkerDeps {
  const config = readConfig({
    PUBLISH_SCHEDULE: options.schedule ?? neverSoon,
    SHUTDOWN_SECONDS: String(options.shutdownSeconds ?? 4),
  })
  const queue: QueueSettings = { ...quick, connection: options.connection }
  return {
    config,
    databaseUrl: options.url,
    store,
    publication: tablePublication(store),
    log,
    clock: () => new Date(),
    queue,
    ...(options.watchdog && { watchdog: options.watchdog }),
  }
}

/** A worker in a process of its own. */
export type WorkerProcess = {
  /** Kill -9. */
  kill(): Promise<void>
  /** SIGTERM; resolves to the exit code. */
  terminate(): Promise<number | null>
}

/** One database, one queue engine and the workers that a test starts on them. */
export class World {
  readonly store: Store
  readonly #url: string
  readonly #connection: QueueConnection
  readonly #lines: Record<string, unknown>[] = []
  readonly log: Log
  readonly #open: (() => Promise<unknown>)[] = []

  constructor(store: Store, url: string, connection: QueueConnection) {
    this.store = store
    this.#url = url
    this.#connection = connection
    this.log = pino({ level: 'debug' }, { write: (line: string) => void this.#lines.push(JSON.parse(line)) })
  }

  /** Events that were logged in this process with this message. */
  logged(message: string | RegExp): Record<string, unknown>[] {
    const isIt = (text: string) => (typeof message === 'string' ? text === message : message.test(text))
    return this.#lines.filter(({ msg }) => isIt(String(msg)))
  }

  /** An empty ledger with so many stale items. */
  async begin(items: number): Promise<void> {
    this.#lines.length = 0
    await resetTables(this.store.db)
    await this.store.db.query('drop schema if exists bullmq cascade')
    await this.store.db.query('insert into item select id, true from generate_series(1, $1) id', [items])
  }

  async startWorker({
    work,
    clock,
    ...options
  }: WorkerOptions & { readonly work?: WorkerDeps['work']; readonly clock?: Clock } = {}): Promise<Worker> {
    const all = { ...options, url: this.#url, connection: this.#connection }
    const store = openStore({ url: this.#url, max: 4, applicationName: 'test worker' })
    const worker = await startWorker({
      ...workerDeps(store, all, this.log),
      ...(work && { work }),
      ...(clock && { clock }),
    })
    this.#open.push(async () => {
      await worker.close()
      await store.close()
    })
    return worker
  }

  /** Starts a worker process; resolves when it takes jobs. */
  async forkWorker(options: WorkerOptions = {}): Promise<WorkerProcess> {
    const all: WorkerProcessOptions = { ...options, url: this.#url, connection: this.#connection }
    const child = await forkStripped('test/support/processes/jobs/worker-process.ts', [JSON.stringify(all)])
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    this.#open.push(() => killed(child, ended))
    await Promise.race([
      new Promise((resolve) => child.once('message', resolve)),
      ended.then((code) => Promise.reject(new Error(`the worker process ended with ${code} before it was ready`))),
    ])
    return {
      kill: async () => void (await killed(child, ended)),
      terminate: async () => {
        child.kill('SIGTERM')
        return await ended
      },
    }
  }

  async openQueue(): Promise<JobQueue> {
    const queue = await openQueue({ ...quick, connection: this.#connection }, this.log)
    this.#open.push(() => queue.close())
    return queue
  }

  async runs(): Promise<RunSummary[]> {
    return (await listRuns(this.store.db, 1000)).reverse()
  }

  /** Waits until `condition` gives a value; the test's own time-out is the guard. */
  async until<T>(condition: () => Promise<T | undefined | false>): Promise<T> {
    for (;;) {
      const value = await condition()
      if (value) return value
      await sleep(25)
    }
  }

  async count(from: string): Promise<number> {
    const { rows } = await this.store.db.query<{ n: number }>(`select count(*) as n from ${from}`)
    return rows[0]?.n ?? 0
  }

  /** Ends every worker and queue of the test. */
  async end(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((close) => close()))
  }
}

async function killed(child: ChildProcess, ended: Promise<unknown>): Promise<unknown> {
  child.kill('SIGKILL')
  return await ended
}
