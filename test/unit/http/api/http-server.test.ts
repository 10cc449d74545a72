import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls'
import pino from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttpServer } from '../../../../src/http/api/http-server.js'
import { createServer } from '../../../../src/http/api/server.js'
import { testConfig } from '../../../support/api/api-config.js'
import { selfSigned } from '../../../support/servers/self-signed.js'
import { standStill } from '../../../support/values/stand-still.js'

const deps = { log: pino({ level: 'silent' }), config: testConfig }

describe('the server under the framework', () => {
  it('gives headers and requests 30 s, and looks every second; two minutes of silence are too many', () => {
    const { server } = createServer(deps)
    expect(server).toMatchObject({ headersTimeout: 30_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 })
    expect(server.timeout).toBe(120_000)
  })

  const connectTo = async (handler: RequestListener, times: Parameters<typeof createHttpServer>[3]) => {
    const server = createHttpServer(handler, deps, () => false, times)
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    return connect((server.address() as AddressInfo).port, '127.0.0.1')
  }

  it('ends a connection whose headers do not arrive in time', async () => {
    const times = { headersMs: 150, requestMs: 150, checkedEveryMs: 20, silentMs: 60_000 }
    const socket = await connectTo((_request, response) => void response.end(), times)
    socket.write('GET / HTTP/1.1\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /)
  })

  const times = { headersMs: 150, requestMs: 150, checkedEveryMs: 20, silentMs: 300 }
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\n'
  const answerWhole: RequestListener = (request, response) => {
    request.resume().once('end', () => response.end('served'))
  }

  it.each([
    ['nothing', ''],
    ['a part of the headers', head.slice(0, 20)],
    ['the headers', head],
    ['a part of the body', `${head}ab`],
  ])(
    'serves a request of which it had read %s when it stood still for longer than the client has',
    async (_, before) => {
      const socket = await connectTo(answerWhole, times)
      await once(socket, 'connect')
      if (before !== '') socket.write(before)
      await new Promise((resolve) => setTimeout(resolve, 40))
      socket.write(`${head}abcd`.slice(before.length))
      standStill(600)
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*served$/s)
    },
  )

  it('answers 408 to a client whose bytes are missing when it goes on', async () => {
    const socket = await connectTo(answerWhole, times)
    socket.write(`${head}ab`)
    await once(socket, 'connect')
    standStill(600)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 Request Timeout.*<error_code>408</s)
  })

  it('does not count the time in which nobody reads a body that has arrived', async () => {
    const late: RequestListener = (request, response) => void setTimeout(answerWhole, 400, request, response)
    const socket = await connectTo(late, { ...times, checkedEveryMs: 100, silentMs: 60_000 })
    const body = Buffer.alloc(256 * 1024)
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`)
    socket.write(body)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*served$/s)
  })

  it('cuts a reader that takes no byte any more', async () => {
    // Of 200 ms without a byte, those in which the loop stood still are seen: they are not the reader's.
    const times = { headersMs: 60_000, requestMs: 60_000, checkedEveryMs: 50, silentMs: 200 }
    // More than the two machines hold between them.
    const body = Buffer.alloc(64 * 1024 * 1024)
    const answers: ServerResponse[] = []
    const socket = await connectTo((_request, response) => void answers.push(response.end(body)), times)
    onTestFinished(() => void socket.destroy())
    socket.pause()
    socket.on('error', () => undefined)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await expect.poll(() => answers.map(({ destroyed }) => destroyed)).toEqual([true])
    expect(socket.bytesRead).toBeLessThan(body.length)
  })

  it('refuses a request with two Host headers or none, as RFC 9112 3.2 wants', async () => {
    const app = createServer(deps)
    app.get('/', async () => 'served')
    onTestFinished(async () => await app.close())
    await app.listen({ host: '127.0.0.1', port: 0 })
    const ask = async (headers: string) => {
      const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
      socket.write(`GET / HTTP/1.1\r\nConnection: close\r\n${headers}\r\n`)
      return await text(socket)
    }
    expect(await ask('Host: a\r\nhost: b\r\n')).toMatch(/^HTTP\/1\.1 400 /)
    expect(await ask('Host: a\r\n')).toMatch(/served$/)
    expect(await ask('')).toMatch(/^HTTP\/1\.1 400 /)
  })

  it.each([
    ['ECDHE-ECDSA-AES128-GCM-SHA256', 'TLSv1.2', undefined],
    ['TLS_AES_128_GCM_SHA256', 'TLSv1.3', undefined],
    ['ECDHE-ECDSA-AES128-SHA', 'TLSv1.2', /handshake failure/],
    ['ECDHE-ECDSA-AES128-SHA256', 'TLSv1.2', /handshake failure/],
    ['ECDHE-ECDSA-AES128-SHA@SECLEVEL=0', 'TLSv1.1', /protocol version/],
  ])('speaks %s over %s, or refuses it: %s', async (ciphers, version, refusal) => {
    const config = { ...testConfig, tls: { cert: Buffer.from(selfSigned.cert), key: Buffer.from(selfSigned.key) } }
    const server = createHttpServer(
      (_request, response) => void response.end(),
      { ...deps, config },
      () => false,
    )
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connectSecurely({
      ...{ port, host: 'localhost', ca: selfSigned.cert },
      ...{ ciphers, minVersion: version, maxVersion: version },
    } as ConnectionOptions)
    const spoken = once(socket, 'secureConnect').then(() => socket.getProtocol())
    if (refusal) await expect(spoken).rejects.toThrow(refusal)
    else expect(await spoken).toBe(version)
    socket.destroy()
  })
})
