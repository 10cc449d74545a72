import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { startInTurns } from '../../../../src/http/api/fair-starts.js'

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
