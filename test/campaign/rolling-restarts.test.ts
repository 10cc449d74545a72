import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startReadyProxy } from '../support/servers/ready-proxy.js'
import { testDatabase } from '../support/store/database.js'
import { seedProjects } from '../support/store/seeded.js'
import { askForRun, createFleet, runEnded } from './support/fleet.js'
import { startLoad } from './support/load.js'
import { duration, record, seeded } from './support/record.js'
import { scale } from './support/scale.js'
import { newKey } from './support/shutdowns.js'

// The proxy asks five times a second; the processes drain for as long as they do by default, so that a machine which is
// too busy for an answer within a second loses no request either.
const lookMs = 200

test('API processes replaced one after the other under load', async () => {
  const { store, url } = await testDatabase()
  const fleet = await createFleet({ DATABASE_URL: url })
  onTestFinished(fleet.end)
  await seedProjects(store, 500)
  const apiKey = await newKey(store)
  const worker = await fleet.start('worker')
  expect((await runEnded(store, await askForRun(store))).state).toBe('published')
  await worker.terminate()

  const random = seeded('rolling restarts')
  const proxy = await startReadyProxy(lookMs)
  onTestFinished(() => proxy.close())
  const start = async () => {
    const api = await fleet.start('api')
    await proxy.add(api.baseUrl)
    return api
  }
  const serving = [await start(), await start()]
  const load = startLoad(
    proxy.baseUrl,
    [
      '/iati/activities.xml',
      `/api/public/projectservice/all/projects.json?api_key=${apiKey}`,
      '/feeds/manifest.json',
      `/api/public/projectservice/all/projects/summary?api_key=${apiKey}`,
    ],
    16,
  )
  let [tried, slowestMs] = [0, 0]
  const beganAt = performance.now()
  // A restart takes seconds: more patience than other cases have, and less than the time limit of a test.
  const patienceMs = scale.patienceMs * 1.5
  while (tried < scale.rollingRestarts && (tried < 5 || performance.now() - beganAt < patienceMs)) {
    serving.push(await start())
    await sleep(random() * 300)
    const old = serving.shift()
    const { code, ms } = (await old?.terminate()) ?? { code: null, ms: 0 }
    proxy.remove(old?.baseUrl ?? '')
    expect(code, old?.output().slice(-2000)).toBe(0)
    slowestMs = Math.max(slowestMs, ms)
    tried++
  }
  const { answers, faults } = await load.stop()
  expect(proxy.failures).toEqual([])
  expect(faults).toEqual([])
  record({
    name: `rolling restarts of API processes behind a proxy that asks for /readyz every ${lookMs} ms`,
    engine: 'PostgreSQL',
    tried,
    outcome: `${answers} requests answered, none failed; the slowest stop took ${duration(slowestMs)}`,
  })
})
