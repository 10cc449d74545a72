import { createServer } from 'node:net'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommandLine } from '../../support/commands/command-line.js'
import { layRelease } from '../../support/release/release.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const dataDir = await temporaryFolder()
// A port where nobody listens any more.
const server = createServer()
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
const url = `postgres://giving@127.0.0.1:${typeof address === 'object' ? address?.port : ''}/giving`
await new Promise((resolve) => server.close(resolve))
await layRelease(path.join(dataDir, 'feeds'), {
  id: '20261120T020000Z-1',
  lastModified: '2026-11-20T02:00:00Z',
  files: [{ path: '/iati/activities.xml', mediaType: 'application/xml', text: '<iati-activities/>' }],
})

describe('giving status while the database is away', () => {
  const status = async (json: boolean) => {
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'fatal' }
    const { code, stdout } = await runCommandLine(json ? ['status', '--json'] : ['status'], environment)
    return { code, text: stdout }
  }

  it('says so to machines, with what the published files tell', async () => {
    const { code, text } = await status(true)
    expect(code).toBe(1)
    expect(JSON.parse(text)).toMatchObject({
      database: { kind: 'given', reachable: false, error: expect.stringContaining('cannot be reached') },
      live: { release: '20261120T020000Z-1', activities: 1 },
      needs: [expect.stringContaining('cannot be reached')],
    })
  })

  it('says so to people', async () => {
    const { code, text } = await status(false)
    expect(code).toBe(1)
    expect(text).toMatch(/^database: +unreachable \(given\)\nlive release: +20261120T020000Z-1, 1 activities\n/)
  })
})
