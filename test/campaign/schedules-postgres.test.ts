import { describe, test } from 'vitest'
import { testDatabase } from '../support/database.js'
import {
  changeSchedules,
  loseScheduler,
  missInstants,
  type QueueSurgery,
  startCold,
  startTogether,
} from './support/schedules.js'

const ofPublications = `queue = 'publish' and scheduler_id = 'publish'`

function surgery(url: string): QueueSurgery {
  return {
    connection: { kind: 'postgres', url },
    forget: async ({ db }) => void (await db.query('drop schema if exists bullmq cascade')),
    remove: async ({ db }, what) => {
      if (what === 'scheduler') await db.query(`delete from bullmq.scheduler where ${ofPublications}`)
      else await db.query(`delete from bullmq.job where ${ofPublications} and state = 'delayed'`)
    },
  }
}

describe('schedules, queue on PostgreSQL', () => {
  test('down at the due instant', async () => {
    const { store, url } = await testDatabase()
    await missInstants('PostgreSQL', store, { DATABASE_URL: url })
  })

  test('changed', async () => {
    const { store, url } = await testDatabase()
    await changeSchedules('PostgreSQL', store, { DATABASE_URL: url })
  })

  test('started together', async () => {
    const { store, url } = await testDatabase()
    await startTogether('PostgreSQL', store, url, surgery(url))
  })

  test('started together, cold', async () => {
    await startCold('PostgreSQL', async (url) => ({ DATABASE_URL: url }))
  })

  test('the scheduler lost', async () => {
    const { store, url } = await testDatabase()
    await loseScheduler('PostgreSQL', store, url, surgery(url))
  })
})
