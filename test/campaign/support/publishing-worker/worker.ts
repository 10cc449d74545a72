import { onTestFinished } from 'vitest'
import type { QueueConnection } from '../../../../jobs/engine.js'
import type { PublicationDeps } from '../../../../src/release/publication.js'
import { forkStripped } from '../../../support/commands/cli.js'

/** Where a publication is. */
export type PublicationStep = Parameters<NonNullable<PublicationDeps['onStep']>>[0]

/** What a worker process with the real publication is told. */
export type PublishingWorkerOptions = {
  readonly url: string
  readonly connection: QueueConnection
  readonly feedsDir: string
  readonly lockSeconds: number
  readonly schedule: string
  /** Kills itself after the first step of this name. */
  readonly dieAfter?: PublicationStep
}

/** Never due while a test runs. */
export const neverSoon = '0 0 29 2 *'

/** A worker in a process of its own. */
export type PublishingWorker = {
  readonly pid: number
  kill(): Promise<void>
  /** SIGTERM; resolves to the exit code and how long it took, in milliseconds. */
  terminate(): Promise<{ code: number | null; ms: number }>
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** Starts a worker process; resolves when it takes jobs. It never outlives the test. */
export async function forkPublishingWorker(options: PublishingWorkerOptions): Promise<PublishingWorker> {
  const child = await forkStripped('test/campaign/support/publishing-worker/process.ts', [JSON.stringify(options)])
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  )
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  await Promise.race([
    new Promise((resolve) => child.once('message', resolve)),
    ended.then((code) => Promise.reject(new Error(`the worker process ended with ${code} before it was ready`))),
  ])
  return {
    pid: child.pid ?? 0,
    kill,
    terminate: async () => {
      const began = performance.now()
      child.kill('SIGTERM')
      const code = await ended
      return { code: typeof code === 'number' ? code : null, ms: performance.now() - began }
    },
    ended,
  }
}
