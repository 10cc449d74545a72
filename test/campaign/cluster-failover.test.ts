import { describe, expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore } from '../../src/platform/database/store.js'
import { newInstallation } from '../support/commands/cli.js'
import { seedProjects } from '../support/store/seeded.js'
import { askForRun, createFleet, runEnded, until } from './support/fleet.js'
import { installedPostgresMissing, startInstalledPostgres } from './support/installed-postgres.js'
import { pgBouncerMissing, startPgBouncer } from './support/pgbouncer.js'
import { record } from './support/record.js'

const missing = installedPostgresMissing() ?? pgBouncerMissing()
if (missing !== undefined) console.warn(`The failover to a standby is skipped: ${missing}.`)

describe.skipIf(missing)('a primary that a failover has left behind', () => {
  test('is read and not written, until a person lets it count', { timeout: 600_000 }, async () => {
    const server = await startInstalledPostgres()
    const old = server.url
    const setUp = openStore({ url: old, max: 2, applicationName: 'campaign' })
    await migrate(setUp)
    await seedProjects(setUp, 20)
    const standby = await server.standby()
    const fleet = await createFleet({})
    const folder = { GIVING_DATA_DIR: fleet.dataDir }
    onTestFinished(async () => {
      await fleet.end()
      await setUp.close()
      await server.stop()
    })
    const alone = await newInstallation({ ...folder, DATABASE_URL: old, REPORTING_ORG_REF: 'US-EIN-123456789' })
    const user = { email: 'a@example.org', password: 'seven quiet rivers run' }
    const made = await alone.run(
      ['users', 'create', '--email', user.email, '--password-stdin', '--json'],
      user.password,
    )
    const { apiKey } = JSON.parse(made.stdout) as { apiKey: string }
    const worker = await fleet.start('worker', { DATABASE_URL: old })
    const stays = await fleet.start('api', { DATABASE_URL: old })
    expect((await runEnded(setUp, await askForRun(setUp))).state).toBe('published')
    const signIn = async ({ baseUrl }: { baseUrl: string }) => {
      const answer = await fetch(`${baseUrl}/api/userservice/tokens`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ auth_request: { user, api_key: apiKey } }),
      })
      return [answer.status, answer.status === 200 ? '' : await answer.text()] as const
    }
    const read = async ({ baseUrl }: { baseUrl: string }) =>
      (await fetch(`${baseUrl}/api/public/projectservice/all/projects?api_key=${apiKey}`)).status
    expect((await signIn(stays))[0]).toBe(200)
    await standby.cutOff()
    await worker.kill()

    // The network parts: one side promotes the standby while the old primary lives on, with processes that reach it.
    const url = await standby.promote()
    expect((await signIn(stays))[0]).toBe(200)
    const both = `${old.replace(/@([^/]+)\//, `@$1,${new URL(url).host}/`)}?target_session_attrs=read-write`
    const follows = await fleet.start('api', { DATABASE_URL: url })
    expect((await signIn(follows))[0]).toBe(200)
    // What the process with the old primary learns from the folder holds for the connections that it has.
    const [status, text] = await until(async () => {
      const answer = await signIn(stays)
      return answer[0] === 503 && answer
    })
    expect(text).toContain('cannot take this request at the moment')
    expect([status, await read(stays), await read(follows)]).toEqual([503, 200, 200])
    expect(stays.output()).toContain('the database is an older primary: it is at timeline 1, and timeline 2 was seen')
    // Of several servers the newest is used, in whatever order they stand.
    const several = await fleet.start('api', { DATABASE_URL: both })
    expect((await signIn(several))[0]).toBe(200)

    // It dies and comes back: nobody is led to it.
    await server.kill()
    await server.comeBack()
    const bouncer = await startPgBouncer(old, 'transaction')
    onTestFinished(bouncer.stop)
    const pooled = await fleet.start('api', { DATABASE_URL: bouncer.url, DATABASE_DIRECT_URL: old })
    expect([(await signIn(pooled))[0], await read(pooled)]).toEqual([503, 200])
    const said = await alone.run(['status'])
    expect(said.stdout).toMatch(/^ {2}- the database is an older primary/m)
    expect(said.code).toBe(1)
    // The others tell it too, whose own primary is the newest.
    const other = await newInstallation({ ...folder, DATABASE_URL: url, REPORTING_ORG_REF: 'US-EIN-123456789' })
    expect((await other.run(['status'])).stdout).toMatch(/^ {2}- on .*: the database is an older primary/m)
    expect(
      (await alone.run(['users', 'create', '--email', 'b@example.org', '--password-stdin'], user.password)).stderr,
    ).toContain('giving database accept')

    expect(await alone.run(['database', 'show'])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/timeline: +1\n.*: +2\n/),
    })
    expect((await alone.run(['database', 'accept'])).code).toBe(1)
    expect((await signIn(stays))[0]).toBe(503)
    await follows.kill()
    await several.kill()
    expect((await alone.run(['database', 'accept', '--confirm'])).code).toBe(0)
    await until(async () => (await signIn(stays))[0] === 200)
    expect((await alone.run(['status'])).stdout).not.toContain('older primary')
    record({
      name: 'cluster: two primaries after a failover, then the old one that comes back',
      engine: 'PostgreSQL',
      tried: 1,
      outcome:
        'the old one is read and not written (503), directly, among several servers and behind PgBouncer; status names it',
    })
  })
})
