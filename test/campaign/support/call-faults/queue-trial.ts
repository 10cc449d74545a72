import { setTimeout as sleep } from 'node:timers/promises'
import { createReleaseReader } from '../../../../src/release/read/release-reader.js'
import { faultsOf } from '../../../support/release/published-folder.js'
import { startRedis } from '../../../support/servers/redis.js'
import { insertProjects } from '../../../support/store/catalogue.js'
import type { TestDatabase } from '../../../support/store/database.js'
import { endLeases, isPublished, openPlace, real, type Trial, untrueLedger } from './trial.js'

/**
 * `giving publish --wait` and the worker that it waits for, in one process, whose connections to Redis break. A clock is not
 * tried: with a wrong one the worker leaves its runs to others, and there are none.
 */
export async function queueTrial(database: TestDatabase): Promise<Trial> {
  const redis = await startRedis()
  const { store, feedsDir, place, close } = await openPlace(database, {
    ...real,
    REDIS_URL: redis.url,
    QUEUE_LOCK_SECONDS: '2',
  })
  await insertProjects(
    store.db,
    Array.from({ length: 12 }, (_, index) => ({ id: index + 1 })),
  )
  const reader = createReleaseReader(feedsDir)
  let title = ''
  let works = false
  return {
    place: { ...place, onlyNetworks: true },
    kinds: ['error', 'kill'],
    prepare: async (round) => {
      title = `Title of round ${round}.`
      await store.db.query('update project set title = $1 where id = 7', [title])
    },
    act: async (processes, fault) => {
      if (!works) await processes.serve('worker')
      const outcome = await processes.run(['publish', '--wait'], fault)
      works = outcome !== 'killed'
      return outcome
    },
    passTime: () => endLeases(store, 'run'),
    isDone: () => isPublished(reader, title),
    wrongAnyTime: async () => [],
    wrongWhenDone: async () => {
      // The worker may also have taken up the run that was cut off.
      const open = "select from run where state in ('queued', 'running')"
      for (let tries = 0; tries < 300 && (await store.db.query(open)).rowCount > 0; tries++) await sleep(100)
      const { rowCount } = await store.db.query(open)
      const left = rowCount > 0 ? [`${rowCount} runs are open`] : []
      return [...left, ...(await faultsOf(feedsDir, store)), ...(await untrueLedger(store, 'run'))]
    },
    close: async () => {
      await redis.stop()
      await close()
    },
  }
}
