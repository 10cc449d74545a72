import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { ofExtensions } from '../../../../src/extensions.js'
import { closeApi } from '../../../../src/http/api/close-api.js'
import { createApi } from '../../../../src/http/api/create-api.js'
import { startLoad } from '../../../campaign/support/load.js'
import { listen, testApi } from '../../../support/api/api.js'
import { layRelease } from '../../../support/release/release.js'
import { startReadyProxy } from '../../../support/servers/ready-proxy.js'
import { insertProjects } from '../../../support/store/catalogue.js'
import { testDatabase } from '../../../support/store/database.js'

const file = `<iati-activities>${'<a/>'.repeat(100_000)}</iati-activities>`

test('rolling restarts behind a proxy that asks for readiness lose no request', async () => {
  const { store } = await testDatabase()
  await insertProjects(store.db, [{ id: 1 }])
  const { deps, feedsDir, apiKey } = await testApi(store)
  await layRelease(feedsDir, {
    id: '20261120T020000Z-1',
    lastModified: '2026-11-20T02:00:00Z',
    files: [{ path: '/iati/activities.xml', mediaType: 'application/xml', text: file }],
  })
  const proxy = await startReadyProxy(25)
  onTestFinished(() => proxy.close())
  const start = async () => {
    const stop = new AbortController()
    const app = await createApi(ofExtensions('addRoutes'), { ...deps, stopping: stop.signal })
    const baseUrl = await listen(app)
    await proxy.add(baseUrl)
    return async () => {
      stop.abort()
      // However long a busy machine takes: the drain ends when the proxy has turned away.
      await closeApi(app, { drained: proxy.left(baseUrl), graceMs: 60_000 })
      proxy.remove(baseUrl)
    }
  }
  const paths = ['/iati/activities.xml', `/api/public/projectservice/all/projects.json?api_key=${apiKey}`]
  let stopRunning = await start()
  const load = startLoad(proxy.baseUrl, paths, 8)
  for (let restart = 0; restart < 4; restart++) {
    const stopNext = await start()
    await sleep(100)
    await stopRunning()
    stopRunning = stopNext
  }
  const { answers, faults } = await load.stop()
  await stopRunning()
  expect(faults).toEqual([])
  expect(proxy.failures).toEqual([])
  expect(answers).toBeGreaterThan(100)
})
