import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js'
import { findPostmaster } from '../../src/platform/embedded-postgres/postmaster.js'
import { faultsOf } from '../support/release/published-folder.js'
import { askForRun, createFleet, runEnded, until } from './support/fleet.js'
import { duration, record, seeded } from './support/record.js'
import { scale } from './support/scale.js'

test('our own PostgreSQL killed under a running service', async () => {
  const random = seeded('own PostgreSQL killed')
  // The invented projects of a trial.
  const fleet = await createFleet({ REPORTING_ORG_REF: '' })
  const service = await fleet.start('start')
  const { baseUrl } = service
  const ready = () => until(async () => (await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.status === 200, 100)
  await ready()
  const server = await openEmbeddedPostgres({ dataDir: fleet.dataDir })
  const store = openStore({ url: server.url, max: 3, applicationName: 'campaign' })
  onTestFinished(async () => {
    await store.close()
    await fleet.end()
    await server.release()
    await rm(server.clusterDir, { recursive: true, force: true })
  })
  let slowestMs = 0
  for (let round = 1; round <= scale.faults; round++) {
    const id = await askForRun(store)
    await sleep(random() * 1500)
    const postmaster = await findPostmaster(server.clusterDir)
    process.kill(postmaster?.pid ?? 0, 'SIGKILL')
    const killedAt = performance.now()
    expect((await fetch(`${baseUrl}/iati/activities.xml`)).status).toBe(200)
    await ready()
    slowestMs = Math.max(slowestMs, performance.now() - killedAt)
    expect((await runEnded(store, id)).state).toMatch(/^(published|unchanged)$/)
    expect(await findPostmaster(server.clusterDir)).toMatchObject({ port: postmaster?.port })
    expect(await faultsOf(path.join(fleet.dataDir, 'feeds'), store)).toEqual([])
  }
  await store.close()
  await server.release()
  expect((await service.terminate()).code).toBe(0)
  expect(await findPostmaster(server.clusterDir)).toBeUndefined()
  record({
    name: 'our own PostgreSQL killed (kill -9) under giving start',
    engine: 'PostgreSQL',
    tried: scale.faults,
    outcome: `started again by the service, ready within ${duration(slowestMs)}; every run ended well`,
  })
})
