import { expect, it, onTestFinished } from 'vitest'
import { World } from '../support/processes/jobs/world.js'
import { testDatabase } from '../support/store/database.js'

it('the job is scheduled and done', async () => {
  const { store, url } = await testDatabase()
  const world = new World(store, url, { kind: 'postgres', url })
  onTestFinished(() => world.end())
  await world.begin(0)
  const worker = await world.startWorker()
  const queue = await world.openQueue()
  expect(await queue.findScheduler('books', 'books-check')).toMatchObject({
    schedule: { expression: '43 3 * * *', timezone: 'UTC' },
  })
  await queue.add({ queue: 'books', name: 'tick', data: { schedule: 'books-check' } })
  expect(await world.until(async () => ((await worker.queueCounts()).books?.completed ?? 0) === 1)).toBe(true)
})
