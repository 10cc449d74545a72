import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openStore } from '../../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { findPostmaster } from '../../../src/platform/embedded-postgres/postmaster.js'
import { keepServerRunning } from '../../../src/platform/embedded-postgres/server-keeper.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

it('our own PostgreSQL is started again after it was killed, at its port, with its data; and stops in the end', async () => {
  const dataDir = await temporaryFolder()
  const server = await openEmbeddedPostgres({ dataDir })
  const { clusterDir } = server
  const told: string[] = []
  const keeper = keepServerRunning({
    dataDir,
    clusterDir,
    onRestart: () => void told.push('restarted'),
    onFailure: (error) => void told.push(String(error)),
  })
  const store = openStore({ url: server.url, max: 1, applicationName: 'keeper' })
  await store.db.query('create table kept as select 7 as answer')
  const before = await findPostmaster(clusterDir)
  process.kill(before?.pid ?? 0, 'SIGKILL')
  while (told.length === 0) await sleep(50)
  expect(told).toEqual(['restarted'])
  const after = await findPostmaster(clusterDir)
  expect(after?.port).toBe(before?.port)
  expect(after?.pid).not.toBe(before?.pid)
  // The connection of before is dead; the next one finds everything.
  await store.db.query('select 1').catch(() => undefined)
  expect((await store.db.query('select answer from kept')).rows).toEqual([{ answer: 7 }])
  await store.close()
  await keeper.stop()
  await server.release()
  expect(await findPostmaster(clusterDir)).toBeUndefined()
  await rm(clusterDir, { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true })
}, 60_000)
