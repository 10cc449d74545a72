import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { loggableUrl } from '../../../../src/http/api/access-log.js'
import { listen, testApi, testUser } from '../../../support/api/api.js'
import { testDatabase } from '../../../support/store/database.js'

const token = 'q7d1m0x4k9b2v8s3t6y5w1z0a4c7e9f2h8j3l6n5'

describe('the log', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store, {
    listRuns: async () => {
      throw new TypeError('the inside of the program')
    },
  })
  const base = await listen(api.app)

  async function send(...parts: readonly (string | Buffer)[]): Promise<string> {
    const { hostname, port } = new URL(base)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    for (const part of parts) socket.write(part)
    return await text(socket).catch(() => '')
  }

  const secrets = () => `api_key=${api.apiKey}&api_token=${token}`
  const ended = 'Host: x\r\nConnection: close\r\n\r\n'

  it.each<[string, () => readonly (string | Buffer)[]]>([
    ['an answer', () => [`GET /api/public/projectservice/all/projects?${secrets()} HTTP/1.1\r\n${ended}`]],
    ['HEAD', () => [`HEAD /api/public/projectservice/all/projects?${secrets()} HTTP/1.1\r\n${ended}`]],
    ['an unknown path', () => [`GET /api/x?${secrets()} HTTP/1.1\r\n${ended}`]],
    ['a published file', () => [`GET /iati/activities.xml?${secrets()} HTTP/1.1\r\n${ended}`]],
    ['the secure area', () => [`POST /api/secure/x?${secrets()} HTTP/1.1\r\nContent-Length: 0\r\n${ended}`]],
    ['a defect of ours', () => [`GET /feeds/status.json?${secrets()} HTTP/1.1\r\n${ended}`]],
    ['a broken percent-encoding', () => [`GET /api/%zz?${secrets()} HTTP/1.1\r\n${ended}`]],
    ['an absolute address', () => [`GET http://x/api/x?${secrets()} HTTP/1.1\r\n${ended}`]],
    ['two question marks', () => [`GET /api/x?a?${secrets()} HTTP/1.1\r\n${ended}`]],
    ['other separators', () => [`GET /api/x?a;${secrets()};b HTTP/1.1\r\n${ended}`]],
    ['a fragment', () => [`GET /api/x#${secrets()} HTTP/1.1\r\n${ended}`]],
    ['letter case', () => [`GET /api/x?API_KEY=${api.apiKey}&Api_Token=${token} HTTP/1.1\r\n${ended}`]],
    ['an encoded name', () => [`GET /api/x?api%5Fkey=${api.apiKey} HTTP/1.1\r\n${ended}`]],
    ['no name', () => [`GET /api/x?${token} HTTP/1.1\r\n${ended}`]],
    ['headers that are too large', () => [`GET /api/x?${secrets()} HTTP/1.1\r\nX: ${'y'.repeat(20_000)}\r\n${ended}`]],
    ['what is no HTTP', () => [`GET /api/x?${secrets()} HTP/9\r\n${ended}`]],
    ['a method nobody knows', () => [`BREW /api/x?${secrets()} HTTP/1.1\r\n${ended}`]],
    [
      'a body that is too large',
      () => [
        `POST /api/userservice/tokens?${secrets()} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 70000\r\n${ended}`,
        Buffer.alloc(70_000, 'x'),
      ],
    ],
    [
      'a password in a broken body',
      () => [
        `POST /api/userservice/tokens HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 30\r\n${ended}`,
        `{"p":${JSON.stringify(testUser.password)}`.padEnd(30),
      ],
    ],
    ['no question mark', () => [`GET /api/public/projectservice/themes&${secrets()} HTTP/1.1\r\n${ended}`]],
    ['an encoded question mark', () => [`GET /api/x%3F${secrets()} HTTP/1.1\r\n${ended}`]],
    ['a question mark that is encoded twice', () => [`GET /api/x%253f${secrets()} HTTP/1.1\r\n${ended}`]],
    ['an encoded equals sign', () => [`GET /api/x?api_key%3D${api.apiKey} HTTP/1.1\r\n${ended}`]],
    ['an encoded ampersand', () => [`GET /api/x?q=a%26${secrets()} HTTP/1.1\r\n${ended}`]],
    ['a key in the path', () => [`GET /api/x/${api.apiKey}/${token} HTTP/1.1\r\n${ended}`]],
    [
      'a key as the user of an absolute address',
      () => [`GET http://${api.apiKey}:secret-word@x/api/x HTTP/1.1\r\n${ended}`],
    ],
    [
      'headers of a read',
      () => [`GET /api/public/projectservice/themes HTTP/1.1\r\nX-Api-Key: ${api.apiKey}\r\n${ended}`],
    ],
    [
      'headers in the secure area',
      () => [`GET /api/secure/x HTTP/1.1\r\nX-Api-Key: ${api.apiKey}\r\nAuthorization: Bearer ${token}\r\n${ended}`],
    ],
    [
      'a header that is not its parameter',
      () => [`GET /api/public/projectservice/themes?${secrets()} HTTP/1.1\r\nX-Api-Key: ${token}\r\n${ended}`],
    ],
    ['Authorization', () => [`GET /api/x HTTP/1.1\r\nAuthorization: Bearer ${token}\r\n${ended}`]],
  ])('has no secret of %s', async (_what, parts) => {
    const before = api.log.length
    const answer = await send(...parts())
    expect(answer).toMatch(/^HTTP\/1\.1 \d\d\d /)
    const lines = api.log.slice(before)
    expect(lines.length).toBeGreaterThan(0)
    const written = JSON.stringify(lines)
    for (const secret of [api.apiKey, token, testUser.password, 'p<ss', 'secret-word'])
      expect(written).not.toContain(secret)
  })

  it('has no secret of a request that was broken off', async () => {
    const { hostname, port } = new URL(base)
    const before = api.log.length
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /api/userservice/tokens?${secrets()} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"a`,
    )
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(JSON.stringify(api.log.slice(before))).not.toMatch(new RegExp(`${api.apiKey}|${token}`))
  })
})

describe('an address in the log', () => {
  it('keeps what helps and hides what may be secret', () => {
    expect(loggableUrl('/a?nextProjectId=7&api_key=k&x=1&y')).toBe(
      '/a?nextProjectId=7&api_key=[redacted]&x=[redacted]&[redacted]',
    )
    expect(loggableUrl('/a')).toBe('/a')
    expect(loggableUrl('/feeds/releases/20261121T020000Z-2/iati/activities.xml')).toBe(
      '/feeds/releases/20261121T020000Z-2/iati/activities.xml',
    )
    expect(loggableUrl('/themes&api_key=short')).toBe('/themes?api_key=[redacted]')
    expect(loggableUrl('/themes%3Fapi_key=short')).toBe('/themes?api_key=[redacted]')
    expect(loggableUrl('http://me:short@host/themes')).toBe('http://[redacted]@host/themes')
    expect(loggableUrl('/a?q=4111_1111/1111%2F1111')).toBe('/a?q=[number]')
  })

  it('of more than 1,000 characters ends before what would be half of a secret', () => {
    for (let before = 950; before < 1_000; before++) {
      for (const secret of [`/${token}`, `?q=${token}`, '?limit=4111-1111-1111-1111']) {
        const logged = loggableUrl(`/${'p-'.repeat(before / 2)}${secret}/${'y-'.repeat(200)}`)
        expect(logged).toMatch(/^\/p-.*…$/)
        expect(logged).not.toMatch(/q7d|4111/)
      }
    }
    expect(loggableUrl('/projects?'.padEnd(1_000, 'limit=1&'))).toHaveLength(1_000)
    expect(loggableUrl(`/projects?${'limit=1&'.repeat(900)}`)).toHaveLength(
      '/projects?'.length + 123 * 8 + '…'.length - 1,
    )
  })
})
