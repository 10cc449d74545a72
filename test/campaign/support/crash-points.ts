import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueueConnection } from '../../../jobs/engine.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { createRun, getRun } from '../../../src/work/sql/runs.js'
import { waitForEnd } from '../../../src/work/wait.js'
import { faultsOf, faultsOfRelease } from '../../support/release/published-folder.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'
import { forkPublishingWorker, neverSoon, type PublicationStep } from './publishing-worker/worker.js'

/** What is found after each crash. */
export type CrashReport = { readonly step: PublicationStep; readonly takeoverMs: number }

/**
 * A worker that is killed after each step of a publication: the previous release stays whole, another worker finishes
 * the run, and nothing is left behind.
 */
export function describeCrashPoints(
  name: string,
  openQueue: (databaseUrl: string) => Promise<{ connection: QueueConnection; stop(): Promise<void> }>,
  steps: readonly PublicationStep[],
  report: (crash: CrashReport) => void = () => undefined,
): void {
  describe(`a worker killed during a publication, ${name}`, () => {
    let database: TestDatabase
    let feedsDir: string
    let queue: Awaited<ReturnType<typeof openQueue>>
    const clock = () => new Date()
    const signal = new AbortController().signal
    const ask = async () => (await createRun(database.store.db, { trigger: 'manual', at: clock() })).id

    beforeAll(async () => {
      database = await testDatabase()
      feedsDir = await temporaryFolder()
      queue = await openQueue(database.url)
      const projects = Array.from({ length: 250 }, (_, index) => ({ id: index + 1 }))
      await insertProjects(database.store.db, projects)
    })
    afterAll(async () => {
      await queue.stop()
    })

    test.each(steps.map((step) => [step]))(
      'after the step "%s"',
      async (step) => {
        const options = {
          url: database.url,
          connection: queue.connection,
          feedsDir,
          lockSeconds: 4,
          schedule: neverSoon,
        }
        const reader = createReleaseReader(feedsDir)
        if (!(await reader.live())) {
          const first = await forkPublishingWorker(options)
          const next = await ask()
          await waitForEnd(() => getRun(database.store.db, next), { signal, pollMs: 50 })
          await first.kill()
        }
        const before = await reader.live()
        await database.store.db.query('update project set title = $1 where id % 2 = 0', [`Title before ${step}`])
        const doomed = await forkPublishingWorker({ ...options, dieAfter: step })
        const id = await ask()
        expect(await doomed.ended).toBe('SIGKILL')
        const diedAt = performance.now()
        const between = await reader.live()
        const late = step === 'switched' || step === 'recorded'
        expect(between?.id === before?.id).toBe(!late)
        expect(await faultsOfRelease(path.join(feedsDir, 'releases', between?.id ?? ''))).toEqual([])
        await forkPublishingWorker(options)
        const run = await waitForEnd(() => getRun(database.store.db, id), { signal, pollMs: 50 })
        report({ step, takeoverMs: performance.now() - diedAt })
        expect(run.state).toBe('published')
        expect((await reader.live())?.manifest.run).toBe(id)
        // The folder is swept after the switch, in the same run or the next one.
        const next = await ask()
        await waitForEnd(() => getRun(database.store.db, next), { signal, pollMs: 50 })
        expect(await faultsOf(feedsDir, database.store)).toEqual([])
      },
      120_000,
    )
  })
}
