import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { startInTurns } from '../../../../src/http/api/fair-starts.js'

const only127001 = process.platform !== 'linux' && 'only Linux has 127.0.0.2'

it.skipIf(only127001)('takes all connections before the work of the first of them', async () => {
  const app = fastify({ forceCloseConnections: true })
  startInTurns(app)
  const started: string[] = []
  app.get('/', async ({ ip }) => {
    started.push(ip)
    for (const began = performance.now(); performance.now() - began < 3; );
    return 'ok'
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const ask = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
  }
  const busy = Array.from({ length: 40 }, () => ask('127.0.0.1'))
  await Promise.all([...busy, ask('127.0.0.2')])
  expect(started).toHaveLength(41)
  expect(started.indexOf('127.0.0.2')).toBeLessThan(10)
  await app.close()
})

it('starts a request of somebody else before the many expensive ones of an address', async () => {
  const app = fastify()
  startInTurns(app)
  const started: string[] = []
  app.get('/:name', async (request) => {
    started.push((request.params as { name: string }).name)
    for (const began = performance.now(); performance.now() - began < 3; );
    return 'ok'
  })
  await app.ready()
  const ask = (name: string, remoteAddress: string) => app.inject({ url: `/${name}`, remoteAddress })
  const busy = Array.from({ length: 40 }, (_, at) => ask(`busy-${at}`, '192.0.2.1'))
  const answers = await Promise.all([...busy, ask('other', '198.51.100.7')])
  expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true)
  expect(started.indexOf('other')).toBeLessThan(10)
  expect(started.filter((name) => name !== 'other')).toEqual(busy.map((_, at) => `busy-${at}`))
  await app.close()
})
