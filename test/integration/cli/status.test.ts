import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Diagnosis } from '../../../src/cli/service/doctor-inspections.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { layRelease } from '../../support/release/release.js'
import { testDatabase } from '../../support/store/database.js'
import { smallDisk } from '../../support/values/small-disk.js'
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

describe('what status and doctor say of the machine', async () => {
  const { url: DATABASE_URL } = await testDatabase()
  const small = await smallDisk(4)
  const said = async (command: 'status' | 'doctor', data = dataDir) => {
    const environment = { DATABASE_URL, GIVING_DATA_DIR: data, LOG_LEVEL: 'fatal', REPORTING_ORG_REF: 'US-EIN-1' }
    const { stdout } = await runCommandLine([command, '--json'], environment)
    const { needs, diagnoses = [] } = JSON.parse(stdout) as { needs?: string[]; diagnoses?: Diagnosis[] }
    return needs ?? diagnoses.flatMap(({ state, message }) => (state === 'fix' ? [message] : []))
  }
  const commands = ['status', 'doctor'] as const

  it('that no worker lives, as soon as a run waits for one', async () => {
    const alone = /run \d+ waits since \S+Z, and no worker is running/
    for (const command of commands) expect(await said(command)).not.toContainEqual(expect.stringMatching(alone))
    const publish = { DATABASE_URL, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'fatal', REPORTING_ORG_REF: 'US-EIN-1' }
    expect(await runCommandLine(['publish'], publish)).toMatchObject({ code: 0 })
    for (const command of commands) expect(await said(command)).toContainEqual(expect.stringMatching(alone))
  })

  it('that a disk is nearly full', async (context) => {
    if (small === undefined) return context.skip('it needs root and a tmpfs')
    await writeFile(path.join(small, 'file'), Buffer.alloc(3.9 * 2 ** 20))
    const full = expect.stringMatching(/: only 0 MB \([0-9]%\) of its disk are free$/)
    for (const command of commands) expect(await said(command, small)).toContainEqual(full)
  })
})
