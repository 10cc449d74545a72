import { test } from 'vitest'
import { killAtRandomMoments } from '../support/campaign/kills.js'
import { testDatabase } from '../support/database.js'

test('kill -9 at random moments, queue on PostgreSQL', async () => {
  const { store, url } = await testDatabase()
  await killAtRandomMoments('PostgreSQL', store, { DATABASE_URL: url })
})
