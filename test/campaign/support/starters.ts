import { afterAll } from 'vitest'
import type { QueueConnection } from '../../../jobs/engine.js'
import { forkStripped } from '../../support/commands/cli.js'

/** Five processes that start and stop a worker each, all at the same moment. */
export type Starters = {
  /** Starts a worker with this schedule in every process; rejects when one fails. */
  start(schedule: string): Promise<void>
  stop(): Promise<void>
}

/** Forks the processes; they end after the file's tests. */
export async function forkStarters(url: string, connection: QueueConnection, count = 5): Promise<Starters> {
  const options = JSON.stringify({ url, connection })
  const children = await Promise.all(
    Array.from({ length: count }, () => forkStripped('test/campaign/support/starter-process.ts', [options])),
  )
  afterAll(async () => {
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await ended
      }),
    )
  })
  const answers = (wanted: string) =>
    Promise.all(
      children.map(
        (child) =>
          new Promise<void>((resolve, reject) => {
            const onExit = (code: number | null) => reject(new Error(`a process ended with ${code}`))
            child.once('exit', onExit)
            child.once('message', (answer) => {
              child.off('exit', onExit)
              if (answer === wanted) resolve()
              else reject(new Error(String(answer)))
            })
          }),
      ),
    )
  await answers('there')
  const tell = async (schedule: string | null, wanted: string) => {
    const heard = answers(wanted)
    for (const child of children) child.send({ schedule })
    await heard
  }
  return { start: (schedule) => tell(schedule, 'started'), stop: () => tell(null, 'stopped') }
}
