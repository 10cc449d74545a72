import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { demoReportingOrgRef } from '../../../../src/kernel/demo-publisher.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { newInstallation } from '../../../support/commands/cli.js'
import { donationFields, targetRecord } from '../../../support/money/donations.js'
import { layRelease } from '../../../support/release/release.js'
import { testDatabase } from '../../../support/store/database.js'

// Longer than a client has for a request.
const stoppedMs = 33_000

it('an API and a worker that were stopped for 33 s, between any two steps of a donation, tell nobody no', async () => {
  const { store, url } = await testDatabase()
  const installation = await newInstallation({
    DATABASE_URL: url,
    METRICS_PORT: '0',
    REPORTING_ORG_REF: demoReportingOrgRef,
  })
  onTestFinished(() => installation.remove())
  // Before there is a release, which is another publisher's.
  const worker = await installation.serve('worker', 'worker ready; ')
  await layRelease(`${installation.dataDir}/feeds`, {
    id: '20261120T020000Z-1',
    lastModified: '2026-11-20T02:00:00Z',
    files: [{ path: '/iati/activities.xml', mediaType: 'application/xml', text: '<iati-activities/>' }],
  })
  const file = path.join(installation.dataDir, 'projects.json')
  const project = [2045, 2046].map((id) => ({ ...targetRecord, id }))
  await writeFile(file, JSON.stringify({ projects: { project } }))
  expect(await installation.runHere(['import', file])).toMatchObject({ code: 0 })
  const user = { email: 'ops@example.org', password: 'seven quiet rivers run' }
  const create = ['users', 'create', '--email', user.email, '--password-stdin', '--json']
  const { apiKey } = JSON.parse((await installation.runHere(create, `${user.password}\n`)).stdout) as { apiKey: string }
  await installation.runHere(['users', 'grant', '--email', user.email, 'donations'])
  const api = await installation.serve('api')
  const { hostname, port, host } = new URL(api.baseUrl)
  const json = { 'content-type': 'application/json', accept: 'application/json' }
  const asked = await fetch(`${api.baseUrl}/api/userservice/tokens`, {
    ...{ method: 'POST', headers: json, body: JSON.stringify({ auth_request: { user, api_key: apiKey } }) },
  })
  const { auth_response } = (await asked.json()) as { auth_response: { access_token: string } }
  const target = `/api/secure/givingservice/donationsclient?api_key=${apiKey}&api_token=${auth_response.access_token}`

  const metricsPort = Number(/metrics on http:[^\s"]+:(\d+)\/metrics/.exec(worker.output())?.[1])
  const open = async (at = Number(port)): Promise<Socket> => {
    const socket = connect(at, hostname)
    await once(socket, 'connect')
    return socket
  }
  const get = (address: string) => `GET ${address} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  const donate = (changes: Record<string, unknown> = {}) => {
    const body = JSON.stringify({ donation: donationFields(changes) })
    const head = `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`
    return { head, body, whole: head + body }
  }
  const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

  // How much of each request has come before the stop; the rest comes during it.
  const [a, b, c, d] = [donate(), donate(), donate(), donate()]
  const parts = [
    ['', a.whole],
    [b.head.slice(0, 60), b.head.slice(60) + b.body],
    [c.head, c.body],
    [d.head + d.body.slice(0, 40), d.body.slice(40)],
    ['', get('/healthz')],
    ['', get('/iati/activities.xml')],
    [get('/healthz').slice(0, 20), get('/healthz').slice(20)],
    [`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`, get('/healthz')],
  ] as const
  // Of the worker's own server, with half of a request before the stop.
  const [begun, rest] = [get('/healthz').slice(0, 20), get('/healthz').slice(20)]
  const probe = await open(metricsPort)
  const sockets = await Promise.all(parts.map(() => open()))
  // At the entry of the result, of the charge and of the intent, each in a statement that the database holds up.
  const steps = [
    ['select from project where id = 2046 for no key update', donate({ project: { id: 2046 } }).whole],
    ['lock table sandbox_charge in share mode', donate().whole],
    ['lock table donation in share mode', donate().whole],
  ] as const
  const held: Socket[] = []
  const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  const answers = await store.transaction(async (db) => {
    for (const [lock, request] of steps) {
      await db.query(lock)
      const socket = await open()
      socket.write(request)
      held.push(socket)
      await expect.poll(async () => (await store.db.query(waits)).rowCount).toBe(held.length)
    }
    for (const [index, [before]] of parts.entries()) if (before !== '') sockets[index]?.write(before)
    probe.write(begun)
    // What was sent is read.
    await sleep(200)
    api.kill('SIGSTOP')
    worker.kill('SIGSTOP')
    probe.write(rest)
    for (const [index, [, rest]] of parts.entries()) sockets[index]?.write(rest)
    return [...sockets, ...held].map((socket) => text(socket))
  })
  await sleep(stoppedMs)
  const probed = text(probe)
  api.kill('SIGCONT')
  worker.kill('SIGCONT')
  expect(statusOf(await probed)).toBe(200)
  const statuses = (await Promise.all(answers)).map(statusOf)
  // The database or the processor seemed silent: the outcome is not known, and the same request tells it.
  const donations = [...statuses.slice(0, 4), ...statuses.slice(parts.length)]
  expect(donations.filter((status) => status !== 200 && status !== 503)).toEqual([])
  expect(statuses.slice(4, parts.length)).toEqual([200, 200, 200, 200])
  // A process that stood still sends no charge any more: what it answered with 503 may not have been charged yet.
  for (const request of [...[a, b, c, d].map(({ whole }) => whole), ...steps.map(([, whole]) => whole)]) {
    await expect
      .poll(
        async () => {
          const socket = await open()
          socket.write(request)
          return statusOf(await text(socket))
        },
        { interval: 1_000 },
      )
      .toBe(200)
  }
  const { rows } = await store.db.query<{ status: string; charges: number }>(
    `select d.status, count(c.id)::integer as charges from donation d left join sandbox_charge c using (reference)
      where d.reference is not null group by d.id, d.status`,
  )
  const taken = rows.filter(({ status }) => status !== 'failed')
  expect(taken).toEqual(Array.from({ length: 7 }, () => ({ status: 'settled', charges: 1 })))
  expect(rows.filter(({ status, charges }) => status === 'failed' && charges > 0)).toEqual([])
  expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  expect((await store.db.query('select from sandbox_charge')).rowCount).toBe(7)
})
