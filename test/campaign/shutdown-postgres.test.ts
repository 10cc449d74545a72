import { test } from 'vitest'
import { testDatabase } from '../support/database.js'
import { scale } from './support/scale.js'
import { stopAllInOne, stopApiAndWorker } from './support/shutdowns.js'

test('SIGTERM of all in one under load, queue on PostgreSQL', async () => {
  await stopAllInOne({ engine: 'PostgreSQL', environment: {} }, Math.ceil(scale.shutdowns / 2))
})

test('SIGTERM of api and worker under load, queue on PostgreSQL', async () => {
  const { store, url } = await testDatabase()
  await stopApiAndWorker(
    { engine: 'PostgreSQL', environment: { DATABASE_URL: url } },
    store,
    Math.ceil(scale.shutdowns / 2),
  )
})
