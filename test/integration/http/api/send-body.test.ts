import { writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fastify, LogController } from 'fastify'
import pino from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Downloads } from '../../../../src/http/api/downloads.js'
import { type OpenFile, openFile } from '../../../../src/http/api/open-files.js'
import { type OpenPart, sendBody } from '../../../../src/http/api/send-body.js'
import { testConfig } from '../../../support/api/api-config.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

// Several buffers, and more than a connection holds for a reader who does not read; no two parts of it are alike.
const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => index.toString(36)).join(' '))

const folder = await temporaryFolder()
const file = path.join(folder, 'file')
await writeFile(file, content)

type Part = readonly [offset: number, length: number] | string

/** A server that answers every request with parts of the file and texts between them. */
async function serving(...wanted: readonly Part[]) {
  const log: string[] = []
  const opened: OpenFile[] = []
  const downloads = new Downloads(testConfig)
  const loggerInstance = pino({}, { write: (line: string) => void log.push(JSON.parse(line).msg) })
  const app = fastify({ loggerInstance, logController: new LogController({ disableRequestLogging: true }) })
  app.get('/', async (request, reply) => {
    const parts: OpenPart[] = []
    for (const part of wanted) {
      if (typeof part === 'string') parts.push(Buffer.from(part))
      else {
        const open = await openFile(file)
        opened.push(open)
        parts.push({ path: file, offset: part[0], length: part[1], file: open })
      }
    }
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    const answer = reply.header('content-length', String(length)).header('x-release', 'one')
    return sendBody(answer, { parts, length }, downloads.begin(request.ip))
  })
  onTestFinished(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => 'listening' })
  const answer = () =>
    new Promise<IncomingMessage>((resolve, reject) => get(url, { agent: false }, resolve).on('error', reject))
  return { app, answer, log, closed: () => opened.every(({ handle }) => handle.fd === -1) }
}

describe('a part of a body', () => {
  it.each([
    ['all of it', 0, content.length],
    ['more than one buffer of it', 1_000, 600_000],
    ['one byte', 5, 1],
    ['nothing', 0, 0],
  ])('arrives as it is: %s', async (_what, offset, length) => {
    const { answer, closed } = await serving([offset, length])
    const response = await answer()
    expect(response.headers).toMatchObject({ 'content-length': String(length), 'x-release': 'one' })
    expect((await buffer(response)).equals(content.subarray(offset, offset + length))).toBe(true)
    await expect.poll(() => closed()).toBe(true)
  })

  it('follows another part, and bytes in memory, in order', async () => {
    const { answer, closed } = await serving('head', [3, 700_000], '', [0, 0], [900_000, 20], 'tail')
    const response = await answer()
    expect(response.headers['content-length']).toBe(String(4 + 700_000 + 20 + 4))
    const middle = Buffer.concat([content.subarray(3, 700_003), content.subarray(900_000, 900_020)])
    expect((await buffer(response)).equals(Buffer.concat([Buffer.from('head'), middle, Buffer.from('tail')]))).toBe(
      true,
    )
    await expect.poll(() => closed()).toBe(true)
  })

  it('is not mixed up with the parts that others read at the same time', async () => {
    const { answer } = await serving([0, content.length])
    const bodies = await Promise.all(Array.from({ length: 4 }, async () => await buffer(await answer())))
    expect(bodies.every((body) => body.equals(content))).toBe(true)
  })

  it('that is longer than the file cuts the connection, and is logged', async () => {
    const { answer, log, closed } = await serving([0, content.length + 1])
    await expect(buffer(await answer())).rejects.toThrow('aborted')
    await expect.poll(() => log).toEqual(['listening', 'a file could not be sent to its end'])
    expect(closed()).toBe(true)
  })

  it('is closed when its reader goes away', async () => {
    const { answer, log, closed } = await serving([0, content.length])
    const response = await answer()
    response.destroy()
    await expect.poll(() => log).toEqual(['listening', 'a reader went away before the end of a file'])
    expect(closed()).toBe(true)
  })
})
