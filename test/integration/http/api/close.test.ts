import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { closeApi } from '../../../../src/http/api/close-api.js'
import { listen, testApi } from '../../../support/api/api.js'
import { layRelease } from '../../../support/release/release.js'
import { testDatabase } from '../../../support/store/database.js'

const large = `<iati-activities>${'<a/>'.repeat(5_000_000)}</iati-activities>`

/** A connection that has asked for a file and has begun to get it. */
async function ask(baseUrl: string, path: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
  await once(socket, 'readable')
  return socket
}

it('an API that closes waits neither for a client that stopped reading nor for one that keeps its connection', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store)
  await layRelease(api.feedsDir, {
    id: '20261120T020000Z-1',
    lastModified: '2026-11-20T02:00:00Z',
    files: [{ path: '/iati/activities.xml', mediaType: 'application/xml', text: large }],
  })
  const baseUrl = await listen(api.app)
  const stubborn = await ask(baseUrl, '/iati/activities.xml')
  const kept = await ask(baseUrl, '/healthz')
  kept.resume()
  const ended = Promise.all([once(stubborn, 'close'), once(kept, 'close')])
  await closeApi(api.app, { drained: Promise.resolve(), graceMs: 300 })
  stubborn.resume()
  await ended
  expect(stubborn.bytesRead).toBeLessThan(large.length)
  await expect(fetch(`${baseUrl}/healthz`)).rejects.toThrow()
})

it('an answer that has begun is finished', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store)
  const text = large.slice(0, 3_000_000)
  await layRelease(api.feedsDir, {
    id: '20261120T020000Z-1',
    lastModified: '2026-11-20T02:00:00Z',
    files: [{ path: '/iati/activities.xml', mediaType: 'application/xml', text }],
  })
  const answer = await fetch(`${await listen(api.app)}/iati/activities.xml`)
  const closing = closeApi(api.app, { drained: Promise.resolve(), graceMs: 30_000 })
  expect((await answer.text()).length).toBe(text.length)
  await closing
})

it('an API that drains says so on /readyz, goes on answering, and keeps no connection', async () => {
  const { store } = await testDatabase()
  const stop = new AbortController()
  const api = await testApi(store, { stopping: stop.signal })
  const baseUrl = await listen(api.app)
  stop.abort()
  let drain = () => {}
  const drained = new Promise<void>((resolve) => {
    drain = resolve
  })
  const closing = closeApi(api.app, { drained, graceMs: 1000 })
  const [ready, health] = await Promise.all([fetch(`${baseUrl}/readyz`), fetch(`${baseUrl}/healthz`)])
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, stopping: true }])
  expect([health.status, health.headers.get('connection')]).toEqual([200, 'close'])
  drain()
  await closing
  await expect(fetch(`${baseUrl}/healthz`)).rejects.toThrow()
})
