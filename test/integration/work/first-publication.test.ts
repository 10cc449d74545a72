import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { claimRun } from '../../../src/work/sql/leases.js'
import { createRun } from '../../../src/work/sql/runs.js'
import { findSchedule } from '../../../src/work/sql/schedules.js'
import { newInstallation } from '../../support/commands/cli.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'

const database = await testDatabase()
await insertProjects(database.store.db, [{ id: 1 }])
const installation = await newInstallation({ DATABASE_URL: database.url, REPORTING_ORG_REF: 'US-EIN-123456789' })
afterAll(async () => await installation.remove())

test('the first publication is awaited without a warning of Node', async () => {
  const { db } = database.store
  const before = await createRun(db, { trigger: 'manual', at: new Date() })
  // Another worker's run: the first publication has to wait until this lease has run out.
  await claimRun(db, { kind: 'publication', runId: before.id, owner: 'another', seconds: 3600 }, new Date())
  const starting = installation.start()
  while (!(await findSchedule(db, 'publish'))) await sleep(100)
  await db.query('update run set lease_until = clock_timestamp() where id = $1', [before.id])
  const service = await starting
  expect(service.output()).not.toMatch(/Warning/)
  service.kill('SIGTERM')
  expect(await service.ended).toBe(0)
})
