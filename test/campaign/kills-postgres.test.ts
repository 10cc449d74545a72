import { test } from 'vitest'
import { testDatabase } from '../support/database.js'
import { killAtRandomMoments } from './support/kills.js'

test('kill -9 at random moments, queue on PostgreSQL', async () => {
  const { store, url } = await testDatabase()
  await killAtRandomMoments('PostgreSQL', store, { DATABASE_URL: url })
})
