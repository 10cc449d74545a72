import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openBucket } from '../../../src/extensions/bucket/bucket.js'
import { migrate } from '../../../src/platform/database/migrate.js'
import { openStore } from '../../../src/platform/database/store.js'
import { newInstallation } from '../../support/commands/cli.js'
import { startBucketServer } from '../../support/servers/bucket-server.js'
import { redisMissing, startRedis } from '../../support/servers/redis.js'
import { emptyDatabase } from '../../support/store/database.js'
import { seedProjects } from '../../support/store/seeded.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'
import { askForRun, consoleToken, createFleet, type FleetProcess, runEnded, until } from '../support/fleet.js'
import { record } from '../support/record.js'
import { scale } from '../support/scale.js'
import { readSets } from '../support/sets.js'

const missing = redisMissing()
if (missing !== undefined) console.warn(`Machines without a shared folder are not tried: ${missing}.`)

describe.skipIf(missing)('two API and two worker machines, each with a folder of its own', () => {
  test('serve whole releases, one for all, while any of them is killed', { timeout: 3_600_000 }, async () => {
    const redis = await startRedis()
    const { url } = await emptyDatabase()
    const server = await startBucketServer()
    const { name, region, endpoint = '', keys } = server.settings
    const environment = {
      DATABASE_URL: url,
      REDIS_URL: redis.url,
      REPORTING_ORG_REF: 'US-EIN-123456789',
      FEEDS_S3_BUCKET: name,
      FEEDS_S3_REGION: region,
      FEEDS_S3_ENDPOINT: endpoint,
      FEEDS_S3_ACCESS_KEY_ID: keys?.accessKeyId ?? '',
      FEEDS_S3_SECRET_ACCESS_KEY: keys?.secretAccessKey ?? '',
      FEEDS_S3_IS_FOLDER: 'on',
    }
    const store = openStore({ url, max: 2, applicationName: 'campaign' })
    await migrate(store)
    await seedProjects(store, 30)
    const fleet = await createFleet(environment)
    const operator = await newInstallation(environment)
    onTestFinished(async () => {
      await fleet.end()
      await operator.remove()
      await store.close()
      await redis.stop()
      await server[Symbol.asyncDispose]()
    })
    const start = async (command: 'api' | 'worker') =>
      await fleet.start(command, { GIVING_DATA_DIR: await temporaryFolder() })
    const ready = async ({ baseUrl }: FleetProcess) => {
      const answer = await fetch(`${baseUrl}/readyz`)
      await answer.arrayBuffer()
      return { status: answer.status, retryAfter: answer.headers.get('retry-after') }
    }
    const publish = async (title: string) => {
      await store.db.query('update project set title = $1 where id = 1', [title])
      const run = await runEnded(store, await askForRun(store))
      expect([run.state, run.reason]).toEqual(['published', undefined])
      return run.releaseId ?? ''
    }
    const liveAt = async ({ baseUrl }: FleetProcess) => {
      const answer = await fetch(`${baseUrl}/feeds/manifest.json`).catch(() => undefined)
      return answer?.ok ? ((await answer.json()) as { release: string }).release : undefined
    }
    const machines: FleetProcess[] = []
    for (const command of ['api', 'api', 'worker', 'worker'] as const) machines.push(await start(command))
    const apis = () => machines.filter(({ command }) => command === 'api')
    for (const api of apis()) expect(await ready(api)).toEqual({ status: 503, retryAfter: expect.any(String) })
    const first = await publish('First')
    for (const api of apis())
      await until(async () => (await ready(api)).status === 200 && (await liveAt(api)) === first)

    // An empty folder serves nothing before its first copy is whole.
    server.cutAfterBytes = 10
    const late = await start('api')
    await until(async () => late.output().includes('does not follow the bucket'))
    const unready = await fetch(`${late.baseUrl}/iati/activities.xml`)
    expect([unready.status, unready.headers.get('retry-after') !== null]).toEqual([503, true])
    expect((await ready(late)).status).toBe(503)
    // Those that have a release serve it while the bucket is away.
    for (const api of apis()) expect((await ready(api)).status).toBe(200)
    server.cutAfterBytes = undefined
    await until(async () => (await liveAt(late)) === first)
    await late.kill()

    const readers = readSets(() => apis().map(({ baseUrl }) => baseUrl))
    const releases = [first]
    const rounds = scale.noSharedFolder
    for (let round = 0; round < rounds; round++) {
      const at = round % machines.length
      const [victim] = machines.slice(at, at + 1)
      const published = publish(`Round ${round}`)
      await sleep((round % 5) * 300)
      await victim?.kill()
      machines[at] = await start(victim?.command === 'api' ? 'api' : 'worker')
      releases.push(await published)
      for (const api of apis()) await until(async () => (await liveAt(api)) === releases.at(-1))
    }
    // An operator's machine has nothing but the addresses.
    const [before] = releases.slice(-2)
    const rolledBack = await operator.run(['releases', 'rollback', before ?? ''])
    expect(rolledBack.stderr).not.toContain('giving:')
    expect(rolledBack.code).toBe(0)
    for (const api of apis()) await until(async () => (await liveAt(api)) === before)
    const listed = await operator.run(['releases', 'list'])
    expect(listed.stdout).toMatch(new RegExp(`^${before} live`, 'm'))
    expect((await operator.run(['status'])).stdout).toMatch(/^folder: +a copy of the bucket giving, \d+ s old$/m)

    const doctor = async () => (await operator.run(['doctor'])).stdout
    expect(await doctor()).toMatch(/keeps the releases of all machines[\s\S]*strangers can read store\/ of giving/)
    server.conditions = 'ignored'
    expect(await doctor()).toContain('ignores If-Match and If-None-Match')
    server.conditions = undefined

    // What one machine has seen of the database all know, until a person decides on any of them.
    const seen = JSON.parse((await operator.run(['database', 'show', '--json'])).stdout) as { system: string }
    const bucket = await openBucket(server.settings, new AbortController().signal)
    const body = Buffer.from(JSON.stringify({ timelines: { [seen.system]: 9 }, accepted: '' }))
    const key = 'store/database-seen.json'
    await bucket.put({ key, body, mediaType: 'application/json', sha256: 'seen', lifetime: 'live' })
    const headers = { authorization: `Bearer ${consoleToken}` }
    const isRefused = async ({ consoleUrl }: FleetProcess) =>
      (await (await fetch(consoleUrl, { headers })).text()).includes('the database is an older primary')
    for (const api of apis()) await until(() => isRefused(api))
    const shown = await operator.run(['database', 'show'])
    expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining('timeline 9 was seen')])
    expect((await operator.run(['database', 'accept', '--confirm'])).code).toBe(0)
    for (const api of apis()) await until(async () => !(await isRefused(api)))

    const { sets, faults } = await readers.end()
    expect(faults).toEqual([])
    expect(sets).toBeGreaterThan(rounds)
    const { rows } = await store.db.query<object>(`select count(*)::integer as runs from run where state = 'published'`)
    expect(rows).toEqual([{ runs: releases.length }])
    record({
      name: 'cluster: two API and two worker machines without a shared folder, one killed in each publication',
      engine: 'Redis',
      tried: rounds,
      outcome: `${sets} sets read by their manifest: all whole; one release for all after each; a rollback from a fifth machine`,
    })
  })
})
