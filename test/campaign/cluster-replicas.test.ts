import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { newInstallation } from '../support/commands/cli.js'
import { donationFields, targetRecord } from '../support/money/donations.js'
import { seedProjects } from '../support/store/seeded.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { askForRun, createFleet, type FleetProcess, runEnded, until } from './support/fleet.js'
import { installedPostgresMissing, startInstalledPostgres } from './support/installed-postgres.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

const missing = installedPostgresMissing()
if (missing !== undefined) console.warn(`Reads from standbys are skipped: ${missing}.`)

describe.skipIf(missing)('a primary with standbys', () => {
  test('is asked little by an API that reads from two of them, and a client never reads what is older than its own writes', {
    timeout: 3_600_000,
  }, async () => {
    const server = await startInstalledPostgres()
    const store = openStore({ url: server.url, max: 2, applicationName: 'campaign' })
    await migrate(store)
    await seedProjects(store, 200)
    const standbys = [await server.standby(), await server.standby()] as const
    const [one, two] = standbys
    const environment = {
      DATABASE_URL: server.url,
      DATABASE_READ_URL: server.url.replace(/@[^/]+\//, `@${new URL(one.url).host},${new URL(two.url).host}/`),
      REPORTING_ORG_REF: 'XE-EXAMPLE-CAMPAIGN',
      DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    }
    const fleet = await createFleet(environment)
    const giving = await newInstallation({ ...environment, GIVING_DATA_DIR: fleet.dataDir })
    onTestFinished(async () => {
      await fleet.end()
      await store.close()
      await server.stop()
    })
    const file = path.join(fleet.dataDir, 'project.json')
    await writeFile(file, JSON.stringify({ projects: { project: [targetRecord] } }))
    expect((await giving.run(['import', file])).code).toBe(0)
    const user = { email: 'a@example.org', password: 'seven quiet rivers run' }
    const made = await giving.run(
      ['users', 'create', '--email', user.email, '--password-stdin', '--json'],
      user.password,
    )
    const { apiKey } = JSON.parse(made.stdout) as { apiKey: string }
    await giving.run(['users', 'grant', 'donations', '--email', user.email])
    await fleet.start('worker')
    const apis = [await fleet.start('api'), await fleet.start('api')] as const
    expect((await runEnded(store, await askForRun(store))).state).toBe('published')
    const readsFrom = (api: FleetProcess) => api.output().split('the API reads from a standby').length - 1
    await until(async () => apis.every((api) => readsFrom(api) >= 2))

    const get = async ({ baseUrl }: FleetProcess, where: string) => {
      const answer = await fetch(`${baseUrl}/api/public/${where}${where.includes('?') ? '&' : '?'}api_key=${apiKey}`, {
        headers: { accept: 'application/json' },
      })
      return { status: answer.status, text: await answer.text() }
    }
    const kinds = [
      'projectservice/all/projects?limit=20',
      'projectservice/countries/US/projects',
      'services/search/projects?q=water',
      'projectservice/themes',
      'projectservice/projects/2045',
      'orgservice/all/organizations',
    ]
    const ask = async (count: number) => {
      const wanted = Array.from({ length: count }, (_, at) => at)
      const statuses: number[] = []
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let at = wanted.pop(); at !== undefined; at = wanted.pop()) {
            statuses.push((await get(apis[at % 2] ?? apis[0], kinds[at % kinds.length] ?? '')).status)
          }
        }),
      )
      return statuses.filter((status) => status !== 200)
    }
    // The workers' own statements would be counted with those of the API.
    for (const each of fleet.processes) if (each.command === 'worker') await each.kill()
    await ask(60)
    const before = await Promise.all([statements(store), ...standbys.map((each) => each.ask(statementsSql))])
    // Fewer are lost among the questions that are asked each second.
    const tried = Math.max(1_200, scaled(2400))
    expect(await ask(tried)).toEqual([])
    // The server counts what idle connections did a second later.
    await sleep(1_500)
    const after = await Promise.all([statements(store), ...standbys.map((each) => each.ask(statementsSql))])
    const [primary = 0, ...others] = after.map((count, at) => Number(count) - Number(before[at]))
    const share =
      others.reduce((sum, count) => sum + count, 0) / (primary + others.reduce((sum, count) => sum + count, 0))
    // Above 0.9 on an idle machine; a slow run has more of the questions that are asked each second.
    expect(share).toBeGreaterThan(0.8)

    // A donation at one API is in what the other one says of the project, at once.
    const signedIn = await fetch(`${apis[0].baseUrl}/api/userservice/tokens.json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth_request: { user, api_key: apiKey } }),
    })
    const { auth_response } = (await signedIn.json()) as { auth_response: { access_token: string } }
    const secure = `api_key=${apiKey}&api_token=${auth_response.access_token}`
    const donationsOf = async (api: FleetProcess) =>
      (JSON.parse((await get(api, 'projectservice/projects/2045')).text) as { project: { numberOfDonations: number } })
        .project.numberOfDonations
    let had = await donationsOf(apis[1])
    const donate = async () => {
      const answer = await fetch(`${apis[0].baseUrl}/api/secure/givingservice/donationsclient?${secure}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ donation: donationFields({}, { paymentGateway: 'sandbox' }) }),
      })
      expect([answer.status, await answer.text()]).toEqual([200, expect.anything()])
    }
    for (let gift = 0; gift < scaled(40); gift++) {
      // One of the standbys stands still now and then, and goes on while the donation waits for it.
      if (gift % 10 === 5) {
        await one.ask('select pg_wal_replay_pause() as value')
        setTimeout(() => void one.ask('select pg_wal_replay_resume() as value'), 700)
      }
      await donate()
      const has = await Promise.all([donationsOf(apis[1]), donationsOf(apis[1]), donationsOf(apis[0])])
      expect(has).toEqual([had + 1, had + 1, had + 1])
      had++
    }

    // Standbys that stand still are left out, and whoever follows changes misses none meanwhile.
    const since = new Date(Date.now() - 1000).toISOString()
    for (const each of standbys) await each.ask('select pg_wal_replay_pause() as value')
    await store.db.query(`update project set title = 'Changed meanwhile' where id = 2045`)
    const changed = await get(
      apis[1],
      `projectservice/all/projects?modifiedSince=${encodeURIComponent(since)}&limit=100`,
    )
    expect(changed.text).toContain('Changed meanwhile')
    expect((await get(apis[1], 'projectservice/projects/2045')).text).not.toContain('Changed meanwhile')
    await until(async () => (await get(apis[1], 'projectservice/projects/2045')).text.includes('Changed meanwhile'))
    expect(apis[1].output()).toContain('the API reads no more from a standby')
    for (const each of standbys) await each.ask('select pg_wal_replay_resume() as value')
    const known = readsFrom(apis[1])
    await until(async () => readsFrom(apis[1]) >= known + 2)

    const doctor = await giving.run(['doctor'])
    expect(
      doctor.stdout.match(/^ok +database: +the API reads from the standby \S+, which is 0\.\d s behind/gm),
    ).toHaveLength(2)

    expect(doctor.stdout).toContain('the processes that run (2 of giving api) need up to')

    // One dies under load.
    const asked = ask(scaled(600))
    await sleep(300)
    await two.kill()
    expect(await asked).toEqual([])
    record({
      name: 'cluster: two standbys that the API reads from',
      engine: 'PostgreSQL',
      tried: tried + scaled(600) + scaled(40),
      outcome: `${(100 * share).toFixed(1)}% of the statements of ${tried} reads go to standbys; own writes and modifiedSince never go back; kill -9 of one under load: 0 errors`,
    })
  })
  test('is not asked for an export: one of them is, once it has what was written a moment ago', {
    timeout: 3_600_000,
  }, async () => {
    const server = await startInstalledPostgres()
    const store = openStore({ url: server.url, max: 2, applicationName: 'campaign' })
    await migrate(store)
    await seedProjects(store, 200)
    const standby = await server.standby()
    const giving = await newInstallation({
      DATABASE_URL: server.url,
      DATABASE_READ_URL: server.url.replace(/@[^/]+\//, `@${new URL(standby.url).host}/`),
      REPORTING_ORG_REF: 'XE-EXAMPLE-CAMPAIGN',
    })
    onTestFinished(async () => {
      await giving.remove()
      await store.close()
      await server.stop()
    })
    await store.db.query(`update project set title = 'Changed before the export' where id = 1`)
    const folder = path.join(await temporaryFolder(), 'exported')
    const before = Number(await standby.ask(tuplesSql))
    expect((await giving.run(['export', folder])).code).toBe(0)
    expect(await readFile(path.join(folder, 'projects.ndjson'), 'utf8')).toContain('Changed before the export')
    await until(async () => Number(await standby.ask(tuplesSql)) > before + 200)
  })
})

const tuplesSql = `select tup_returned as value from pg_stat_database where datname = 'giving'`

const statementsSql = `select xact_commit + xact_rollback as value from pg_stat_database where datname = 'giving'`

async function statements(store: Store): Promise<unknown> {
  return (await store.db.query<{ value: number }>(statementsSql)).rows[0]?.value
}
