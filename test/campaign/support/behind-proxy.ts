import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request } from 'undici'
import { expect, onTestFinished } from 'vitest'

type Answer = {
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

export type Ask = (url: string, headers?: Record<string, string>) => Promise<Answer>

/** Asks as a client of this host; whose certificate it is does not matter. */
export function clientOf(host: string): Ask {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  onTestFinished(() => dispatcher.close())
  return async (url, headers = {}) => {
    const { statusCode, headers: answered, body } = await request(url, { dispatcher, headers: { host, ...headers } })
    return { statusCode, headers: answered, bytes: Buffer.from(await body.arrayBuffer()) }
  }
}

const files = ['/iati/activities.xml', '/iati/organisations.xml', '/feeds/reports.atom', '/feeds/manifest.json']
const requests = [{}, { 'accept-encoding': 'gzip' }, { range: 'bytes=100-4999' }]

/** Compares answers to requests for whole, compressed, partial and known files; returns how many were compared. */
export async function expectSameAnswers(ask: Ask, direct: string, through: string): Promise<number> {
  for (const name of files) {
    for (const headers of requests) {
      const [ours, proxied] = [await ask(direct + name, headers), await ask(through + name, headers)]
      expect(proxied.statusCode).toBe(ours.statusCode)
      expect(proxied.bytes.equals(ours.bytes), name).toBe(true)
      expect(endToEnd(proxied.headers), name).toEqual(endToEnd(ours.headers))
      const { etag } = ours.headers
      expect((await ask(through + name, { 'if-none-match': String(etag) })).statusCode).toBe(304)
    }
  }
  return files.length * requests.length
}

/** The headers that are the answer's, not the connection's. */
function endToEnd(headers: IncomingHttpHeaders) {
  const { connection: _, 'keep-alive': __, date: ___, server: ____, 'alt-svc': _____, ...rest } = headers
  return rest
}
