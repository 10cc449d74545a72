import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createPasswordHashing } from '../../src/accounts/passwords.js'
import { createApiUser } from '../../src/http/api/operations/create-api-user.js'
import { type Installation, newInstallation, type RunningService } from '../support/commands/cli.js'
import { layRelease } from '../support/release/release.js'
import { testDatabase } from '../support/store/database.js'
import { storeWells } from '../support/store/wells-store.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

const file = '/iati/activities.xml'
const list = '/api/public/projectservice/all/projects.json'
const searches = '/api/public/services/search/projects.json'
const password = 'seven quiet rivers run'

// The numbers of the attacks that stopped an earlier version.
const idleConnections = scaled(1_100)
const sentAhead = scaled(1_300)
const runawaySearches = scaled(42)
const signInLoops = scaled(60)

const missing = process.platform === 'linux' ? undefined : 'only Linux has 127.0.0.2 and /proc'

describe.skipIf(missing)('an API process that may open 1,024 files', async () => {
  const { store, url } = await testDatabase()
  const keys = new Map<string, string>()
  let installation: Installation
  let api: RunningService
  let port: number
  const sockets: Socket[] = []

  beforeAll(async () => {
    await storeWells(store.db)
    const deps = { store, clock: () => new Date(), passwords: createPasswordHashing() }
    for (const email of ['busy@example.org', 'other@example.org']) {
      const user = { email, password, tokenTimeoutSeconds: 36_000 }
      keys.set(email, (await createApiUser(deps, user)).apiKey)
    }
    installation = await newInstallation(
      { DATABASE_URL: url, REPORTING_ORG_REF: 'US-EIN-123456789' },
      { openFiles: 1_024 },
    )
    await layRelease(`${installation.dataDir}/feeds`, {
      id: '20261120T020000Z-1',
      lastModified: '2026-11-20T02:00:00Z',
      files: [{ path: file, mediaType: 'application/xml', text: `<iati-activities>${'<a/>'.repeat(2_000_000)}` }],
    })
    api = await installation.serve('api')
    port = Number(new URL(api.baseUrl).port)
  })
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await installation.remove()
  })

  const open = (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => undefined)
    sockets.push(socket)
    return socket
  }
  const ask = async (localAddress: string, path: string, body?: unknown, signal?: AbortSignal) => {
    const asked = request({
      ...{ port, host: '127.0.0.1', localAddress, path, agent: false, method: body === undefined ? 'GET' : 'POST' },
      ...{ headers: { 'content-type': 'application/json' }, ...(signal && { signal }) },
    })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = await once(asked, 'response')
    return { status: response.statusCode as number, text: await text(response) }
  }
  const statusOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status
  const megabytes = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${api.pid}/status`, 'utf8'))?.[1]) / 1024
  const filesOpen = () =>
    readdirSync(`/proc/${api.pid}/fd`).filter((fd) => {
      try {
        return readlinkSync(`/proc/${api.pid}/fd/${fd}`).endsWith(file)
      } catch {
        return false
      }
    }).length
  const signIn = (localAddress: string, email: string) =>
    statusOf(localAddress, '/api/userservice/tokens', {
      auth_request: { user: { email, password }, api_key: keys.get(email) },
    })

  it('answers again soon after many addresses have opened all connections that it may have', async () => {
    const idle = Array.from({ length: idleConnections }, (_, index) => open(`127.0.1.${1 + (index % 20)}`))
    await Promise.all(idle.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
    const healthy = async () => expect(await statusOf('127.0.0.3', '/healthz')).toBe(200)
    await vi.waitFor(healthy, { timeout: 15_000 })
    for (let asked = 0; asked < 20; asked++) await healthy()
    for (const socket of idle) socket.destroy()
    record({
      ...{ name: 'idle connections from 20 addresses to an API that may open 1,024 files', engine: '-' },
      ...{ tried: idleConnections, outcome: '20 of 20 requests of others answered once silent ones were closed' },
    })
  })

  it('answers others while a few addresses open idle connections beyond what it may have', async () => {
    const idle = Array.from({ length: idleConnections }, (_, index) => open(`127.0.1.${1 + (index % 3)}`))
    await Promise.all(idle.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
    for (let asked = 0; asked < 20; asked++) expect(await statusOf('127.0.0.3', '/healthz')).toBe(200)
    const left = idle.filter((socket) => !socket.destroyed).length
    for (const socket of idle) socket.destroy()
    record({
      ...{
        name: 'idle connections from three addresses to an API that may open 1,024 files',
        engine: '-',
        tried: idleConnections,
      },
      outcome: `${left} left open; 20 of 20 requests of others answered`,
    })
  })

  it('holds one descriptor and little memory for requests that are sent ahead and not read', async () => {
    const before = megabytes()
    const one = `GET ${file} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: identity\r\n\r\n`
    const greedy = [open('127.0.2.1'), open('127.0.2.2')]
    for (const socket of greedy) socket.write(one.repeat(sentAhead))
    const readers = Array.from({ length: 100 }, (_, index) => open(`127.0.3.${1 + (index % 4)}`))
    for (const socket of readers) socket.pause().write(one.repeat(60))
    await vi.waitFor(() => expect(filesOpen()).toBe(1), { timeout: 10_000 })
    await sleep(2_000)
    expect(filesOpen()).toBe(1)
    const used = megabytes() - before
    expect(used).toBeLessThan(400)
    expect(await statusOf('127.0.0.3', '/healthz')).toBe(200)
    expect(await statusOf('127.0.0.3', file)).toBe(200)
    for (const socket of [...greedy, ...readers]) socket.destroy()
    await vi.waitFor(() => expect(filesOpen()).toBe(0), { timeout: 10_000 })
    record({
      ...{ name: 'requests for files sent ahead, answers not read', engine: '-', tried: 2 * sentAhead + 100 * 60 },
      outcome: `one descriptor, ${Math.round(used)} MB more; others answered`,
    })
  })

  it('leaves no busy backend behind when searches run away', async () => {
    const busy = async () => {
      const { rows } = await store.db.query<{ n: number }>(
        `select count(*) as n from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
          and state = 'active' and pid <> pg_backend_pid()`,
      )
      return rows[0]?.n
    }
    const key = `api_key=${keys.get('busy@example.org')}`
    const long = encodeURIComponent(Array.from({ length: 2_000 }, (_, index) => `-q${index}`).join(' '))
    const allowed = encodeURIComponent(Array.from({ length: 32 }, (_, index) => `-q${index}`).join(' '))
    expect(await statusOf('127.0.0.4', `${searches}?${key}&q=${long}`)).toBe(400)
    await store.transaction(async (db) => {
      // Every search waits, as the worst one would run.
      await db.query('lock table project_search in access exclusive mode')
      const gone = new AbortController()
      const asked = Array.from({ length: runawaySearches }, (_, index) =>
        statusOf('127.0.0.4', `${searches}?${key}&q=${allowed}`, undefined, index % 2 ? gone.signal : undefined).catch(
          () => 'gone',
        ),
      )
      await sleep(500)
      gone.abort()
      expect(await statusOf('127.0.0.3', `${list}?${key}`)).toBe(200)
      for (const outcome of await Promise.all(asked)) expect([503, 'gone']).toContain(outcome)
      await vi.waitFor(async () => expect(await busy()).toBe(0), { timeout: 15_000 })
    })
    expect(await statusOf('127.0.0.4', `${searches}?${key}&q=water`)).toBe(200)
    record({
      ...{ name: 'runaway searches, half of their clients gone', engine: '-', tried: runawaySearches },
      outcome: 'all ended; no busy backend left, other reads answered',
    })
  })

  it('lets others sign in while one account signs in without end', async () => {
    const over = { now: false }
    const loops = Array.from({ length: signInLoops }, async () => {
      for (; !over.now; ) await signIn('127.0.4.1', 'busy@example.org').catch(() => undefined)
    })
    const outcomes: number[] = []
    for (let attempt = 0; attempt < 25; attempt++) outcomes.push(await signIn('127.0.4.2', 'other@example.org'))
    over.now = true
    await Promise.all(loops)
    expect(outcomes).toEqual(Array(25).fill(200))
    record({
      ...{ name: 'sign-ins without end with the right password', engine: '-', tried: signInLoops },
      outcome: '25 of 25 sign-ins of another account succeeded',
    })
  })
})
