import { test } from 'vitest'
import { testDatabase } from '../support/database.js'
import { comeAndGo, killProcesses } from './support/workers.js'

test('workers and API processes that come and go under a schedule, queue on PostgreSQL', async () => {
  const { store, url } = await testDatabase()
  await comeAndGo('PostgreSQL', store, { DATABASE_URL: url })
})

test('a worker whose processes are killed, queue on PostgreSQL', async () => {
  const { store, url } = await testDatabase()
  await killProcesses('PostgreSQL', store, { DATABASE_URL: url })
})
