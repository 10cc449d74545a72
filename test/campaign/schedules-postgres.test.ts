import { describe } from 'vitest'
import { type QueueSurgery, testSchedules } from './support/schedules.js'

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

describe('schedules, queue on PostgreSQL', () =>
  testSchedules('PostgreSQL', async (url) => ({ DATABASE_URL: url }), surgery))
