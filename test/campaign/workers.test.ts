import { testDatabase } from '../support/store/database.js'
import { testOnEachEngine } from './support/engines.js'
import { comeAndGo, killProcesses } from './support/workers.js'

testOnEachEngine('workers and API processes that come and go under a schedule', async ({ name, environment }) => {
  const { store, url } = await testDatabase()
  await comeAndGo(name, store, { DATABASE_URL: url, ...environment })
})

testOnEachEngine('a worker whose processes are killed', async ({ name, environment }) => {
  const { store, url } = await testDatabase()
  await killProcesses(name, store, { DATABASE_URL: url, ...environment })
})
