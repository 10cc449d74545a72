import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { connectionsWithinDescriptors } from '../../../../src/http/api/descriptors.js'
import {
  type Installation,
  newInstallation,
  type RunningService,
  transpileProgram,
} from '../../../support/commands/cli.js'
import { layRelease } from '../../../support/release/release.js'
import { testDatabase } from '../../../support/store/database.js'

const missing = process.platform === 'linux' ? undefined : 'only Linux has 127.0.0.2 and /proc'

it.skipIf(missing)('no timer of the API ends the process when no file descriptor is left', async () => {
  const program = [path.join(await transpileProgram(), 'test/support/processes/without-descriptors.js')]
  expect(execFileSync('sh', ['-c', 'ulimit -n 256; exec "$@"', 'sh', process.execPath, ...program]).toString()).toBe(
    'alive\n',
  )
})

it.each([
  [2_000, 20_000, 2_000],
  [2_000, 1_024, 448],
  [100, 1_024, 100],
  [2_000, 64, 8],
  [2_000, Number.POSITIVE_INFINITY, 2_000],
])('of %d connections, %d open files allow %d', (wanted, openFiles, allowed) => {
  expect(connectionsWithinDescriptors(wanted, openFiles)).toBe(allowed)
})

describe.skipIf(missing)('an API process that may open 256 files', { shuffle: false }, async () => {
  const { url } = await testDatabase()
  const file = '/iati/activities.xml'
  let installation: Installation
  let api: RunningService
  let port: number
  const sockets: Socket[] = []

  beforeAll(async () => {
    installation = await newInstallation({ DATABASE_URL: url, MAX_CONNECTIONS_PER_ADDRESS: '20' }, { openFiles: 256 })
    await layRelease(`${installation.dataDir}/feeds`, {
      id: '20261120T020000Z-1',
      lastModified: '2026-11-20T02:00:00Z',
      files: [{ path: file, mediaType: 'application/xml', text: `<iati-activities>${'<a/>'.repeat(1_000_000)}` }],
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
  const statusFrom = (localAddress: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      get({ port, host: '127.0.0.1', localAddress, path, agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).on('error', reject)
    })
  const filesOpen = () =>
    readdirSync(`/proc/${api.pid}/fd`).flatMap((fd) => {
      try {
        return readlinkSync(`/proc/${api.pid}/fd/${fd}`)
      } catch {
        return []
      }
    })

  it('refuses what one address opens beyond its limit, and answers others', async () => {
    const idle = Array.from({ length: 300 }, () => open('127.0.0.2'))
    await Promise.all(idle.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
    await expect.poll(() => idle.filter((socket) => !socket.destroyed)).toHaveLength(20)
    expect(await statusFrom('127.0.0.3', '/healthz')).toBe(200)
    for (const socket of idle) socket.destroy()
  })

  it('leaves most places to others, whatever one network opens', async () => {
    const idle = Array.from({ length: 200 }, (_, index) => open(`127.0.50.${1 + index}`))
    await Promise.all(idle.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
    await expect.poll(() => idle.filter((socket) => !socket.destroyed)).toHaveLength(40)
    expect(await statusFrom('127.0.0.3', '/healthz')).toBe(200)
    for (const socket of idle) socket.destroy()
  })

  it('closes connections that never sent anything when many addresses have opened all that there may be', async () => {
    const idle = Array.from({ length: 300 }, (_, index) => open(`127.0.${10 + (index % 30)}.1`))
    await Promise.all(idle.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
    await vi.waitFor(async () => expect(await statusFrom('127.0.0.3', '/healthz')).toBe(200), { timeout: 120_000 })
    for (const socket of idle) socket.destroy()
  })

  it('answers others while addresses of many networks send one byte a connection, and connect again', async () => {
    let attacking = true
    const attack = (localAddress: string) => {
      const socket = open(localAddress)
      socket.once('connect', () => socket.write('G'))
      socket.once('close', () => attacking && setImmediate(attack, localAddress))
    }
    for (let index = 0; index < 320; index++) attack(`127.0.${10 + (index % 16)}.1`)
    const answers: unknown[] = []
    for (let count = 0; count < 50; count++) {
      answers.push(await statusFrom('127.0.0.3', '/healthz').catch((error: Error) => error.message))
    }
    attacking = false
    for (const socket of sockets) socket.destroy()
    expect(answers.filter((answer) => answer !== 200)).toEqual([])
  })

  it('opens a file once for all who read it, and for those who send requests ahead when their turn has come', async () => {
    const readers = Array.from({ length: 10 }, () => open('127.0.0.4'))
    for (const socket of readers) {
      socket.pause()
      socket.write(`GET ${file} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(60))
    }
    await expect.poll(() => filesOpen().filter((name) => name.endsWith(file))).toHaveLength(1)
    expect(await statusFrom('127.0.0.3', file)).toBe(200)
    expect(filesOpen().filter((name) => name.endsWith(file))).toHaveLength(1)
    for (const socket of readers) socket.destroy()
    await expect.poll(() => filesOpen().filter((name) => name.endsWith(file))).toEqual([])
  })

  it('cuts whoever sends ahead more than anybody needs', async () => {
    const greedy = open('127.0.0.5')
    greedy.write(`GET ${file} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(1_300))
    await once(greedy.resume(), 'close')
    expect(await statusFrom('127.0.0.3', '/healthz')).toBe(200)
  })
})
