import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openQueue } from '../../../jobs/queue.js'
import { createLog } from '../../../src/platform/observability/log.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { selfSigned } from '../../support/servers/self-signed.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

describe('giving health', async () => {
  const { url } = await testDatabase()

  async function listen(server: Server): Promise<string> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return String((server.address() as AddressInfo).port)
  }

  it.each([
    [200, 0],
    [503, 1],
  ])('has exit code of the answer %i of the API', async (status, code) => {
    const asked: (string | undefined)[] = []
    const PORT = await listen(
      createServer((request, response) => {
        asked.push(request.url)
        response.writeHead(status).end()
      }),
    )
    expect(await runCommandLine(['health'], { PORT, HOST: '0.0.0.0' })).toEqual({
      code,
      stdout: `http://localhost:${PORT}/healthz: ${status}\n`,
      stderr: '',
    })
    expect(asked).toEqual(['/healthz'])
  })

  it('asks over TLS where the API has a certificate, whatever its name', async () => {
    const folder = await temporaryFolder()
    const [TLS_KEY_FILE, TLS_CERT_FILE] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')]
    await writeFile(TLS_KEY_FILE, selfSigned.key)
    await writeFile(TLS_CERT_FILE, selfSigned.cert)
    const PORT = await listen(createTlsServer(selfSigned, (_request, response) => response.end()))
    const { code, stdout } = await runCommandLine(['health'], { PORT, TLS_KEY_FILE, TLS_CERT_FILE })
    expect({ code, stdout }).toEqual({ code: 0, stdout: `https://127.0.0.1:${PORT}/healthz: 200\n` })
  })

  it('has exit code 1 where nobody answers, and 2 for a wrong configuration', async () => {
    expect(await runCommandLine(['health'], { PORT: '9' })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/ECONNREFUSED/),
    })
    expect((await runCommandLine(['health'], { PORT: 'nine' })).code).toBe(2)
    expect((await runCommandLine(['health', 'worker'], { DATABASE_URL: 'mysql://x' })).code).toBe(2)
  })

  it('tells of workers whether the queue sees one', async () => {
    const environment = { DATABASE_URL: url, LOG_LEVEL: 'silent' }
    expect(await runCommandLine(['health', 'worker'], environment)).toMatchObject({
      code: 1,
      stdout: 'live workers: 0\n',
    })
    const connection = { kind: 'postgres', url } as const
    await using queue = await openQueue({ connection, lockSeconds: 2, attempts: 1, backoffMs: 1 }, createLog('silent'))
    const worker = await queue.work('publish', 1, async () => '')
    const { code } = await runCommandLine(['health', 'worker'], environment)
    await worker.close()
    expect(code).toBe(0)
    expect(
      await runCommandLine(['health', 'worker'], { ...environment, DATABASE_URL: 'postgres://x@127.0.0.1:9/x' }),
    ).toMatchObject({ code: 1, stdout: expect.stringMatching(/cannot be reached/) })
  })
})
