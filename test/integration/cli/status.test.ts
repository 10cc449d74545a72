import { spawnSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Diagnosis } from '../../../src/cli/service/doctor-inspections.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { layRelease } from '../../support/release/release.js'
import { testDatabase } from '../../support/store/database.js'
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
  const { url: DATABASE_URL, store } = await testDatabase()
  const small = path.join(tmpdir(), `giving-nearly-full-${process.pid}`)
  await mkdir(small, { recursive: true })
  // A disk of its own, where this user may make one.
  const mounted =
    process.getuid?.() === 0 && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', small]).status === 0
  afterAll(async () => {
    if (mounted) spawnSync('umount', ['-l', small])
    await rm(small, { recursive: true, force: true })
  })
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

  const fact = (name: string, value: unknown) =>
    `insert into store_fact (name, value, recorded_at) values ('${name}', '${JSON.stringify(value)}', now())`
  const source = (column: string, value: string) =>
    `insert into import_source (name, kind, location, schedule, next_due, tried_at, ${column}) values ('crm', 'gifts', '/drop', '0 0 * * *', '2099-01-01', now(), ${value})`
  const held = { file: 'a.csv', sha256: 'x', before: 10, changed: 9, gone: 0, since: '2026-11-20', examples: [] }
  const partner = [
    { identifier: 'GB-COH-1', code: 'code-unknown', path: '/iati-organisation/total-budget', detail: 'x' },
  ]

  // One list for status, doctor, alarms and console: what is added to one of them is in all.
  it.each([
    [
      'a run failed',
      `insert into run (trigger, state, queued_at, started_at, finished_at, error_code, error_message) values ('manual', 'failed', now(), now(), now(), 'disk-full', 'no room')`,
      /run \d+ failed: no room/,
    ],
    [
      'a schedule is paused',
      `insert into schedule (name, expression, timezone, adopted_at, paused_at) values ('sync', '0 0 * * *', 'UTC', now(), now())`,
      /schedule sync is paused since/,
    ],
    [
      'the clock of a worker is wrong',
      `insert into wrong_clock (owner, skew_seconds, seen_at) values ('vm:7', 300, now())`,
      /clock of worker vm:7/,
    ],
    [
      'the bucket takes nothing',
      fact('bucket', { target: 'b', failure: { message: 'access denied', since: '2026-01-01T00:00:00Z' } }),
      /the bucket has no release, since .*: access denied/,
    ],
    [
      'elements of an organisation file are left out',
      fact('organisation-left-out', partner),
      /elements of the organisation file are left out/,
    ],
    [
      'the database was restored',
      fact('restored-behind', { release: '20261120T020000Z-1', at: '2026-11-21' }),
      /restored from before release/,
    ],
    [
      'a source could not be read',
      source('outcome, message', `'failed', 'no such file'`),
      /source crm could not be read/,
    ],
    ['a file of a source is held', source('held', `'${JSON.stringify(held)}'`), /source crm is held since 2026-11-20/],
    [
      'a webhook could not be handled',
      `insert into webhook_event (gateway, event_id, kind, charge_id, occurred_at, received_at, state, next_at) values ('stripe', 'e1', 'charge', 'c1', now(), now(), 'failed', now())`,
      /1 webhooks could not be handled/,
    ],
  ])('that %s', async (_name, sql, message) => {
    for (const command of commands) expect(await said(command)).not.toContainEqual(expect.stringMatching(message))
    await store.db.query(sql)
    for (const command of commands) expect(await said(command)).toContainEqual(expect.stringMatching(message))
    const table = /insert into (\w+)/.exec(sql)?.[1]
    await store.db.query(table === 'run' ? "delete from run where state = 'failed'" : `delete from ${table}`)
  })

  it('that a disk is nearly full', async (context) => {
    if (!mounted) return context.skip('it needs root and a tmpfs')
    await writeFile(path.join(small, 'file'), Buffer.alloc(3.9 * 2 ** 20))
    const full = expect.stringMatching(/: only 0 MB \([0-9]%\) of its disk are free$/)
    for (const command of commands) expect(await said(command, small)).toContainEqual(full)
  })
})
