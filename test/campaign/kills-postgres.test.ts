import { expect, test } from 'vitest'
import { killAtRandomMoments } from '../support/campaign/kills.js'
import { scale } from '../support/campaign/scale.js'
import { testDatabase } from '../support/database.js'

test('kill -9 at random moments, queue on PostgreSQL', async () => {
  const { store, url } = await testDatabase()
  await killAtRandomMoments('PostgreSQL', store, { DATABASE_URL: url }, scale.kills)
  expect((await store.db.query(`select from run where state in ('queued', 'running', 'failed')`)).rowCount).toBe(0)
})
