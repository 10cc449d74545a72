import { testDatabase } from '../support/store/database.js'
import { testOnEachEngine } from './support/engines.js'
import { killAtRandomMoments } from './support/kills.js'

testOnEachEngine('kill -9 at random moments', async ({ name, environment }) => {
  const { store, url } = await testDatabase()
  await killAtRandomMoments(name, store, { DATABASE_URL: url, ...environment })
})
