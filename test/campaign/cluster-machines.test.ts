import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore } from '../../src/platform/database/store.js'
import { startBucketServer } from '../support/servers/bucket-server.js'
import { redisMissing, startRedis } from '../support/servers/redis.js'
import { emptyDatabase } from '../support/store/database.js'
import { seedProjects } from '../support/store/seeded.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { createFleet, type FleetProcess, until } from './support/fleet.js'
import { machinesMissing, startMachines } from './support/machines.js'
import { record } from './support/record.js'
import { scale } from './support/scale.js'
import { readSets } from './support/sets.js'
import { instantsOf, scheduledRuns } from './support/workers.js'

const missing = redisMissing() ?? machinesMissing()
if (missing !== undefined) console.warn(`Machines in a network of their own are not tried: ${missing}.`)

const delayMs = 2
const schedule = '*/20 * * * * *'

test.skipIf(missing)(
  'three API and three worker machines, 2 ms from everything, serve whole releases while any of them is killed',
  { timeout: 3_600_000 },
  async () => {
    const redis = await startRedis()
    const { url } = await emptyDatabase()
    const bucket = await startBucketServer()
    const store = openStore({ url, max: 2, applicationName: 'campaign' })
    await migrate(store)
    await seedProjects(store, 30)
    const commands = ['api', 'api', 'api', 'worker', 'worker', 'worker'] as const
    const network = startMachines(commands.length)
    const { name, region, endpoint = '', keys } = bucket.settings
    const fleet = await createFleet({
      DATABASE_URL: await network.far(url, delayMs),
      REDIS_URL: await network.far(redis.url, delayMs),
      FEEDS_S3_BUCKET: name,
      FEEDS_S3_REGION: region,
      FEEDS_S3_ENDPOINT: await network.far(endpoint, delayMs),
      FEEDS_S3_ACCESS_KEY_ID: keys?.accessKeyId ?? '',
      FEEDS_S3_SECRET_ACCESS_KEY: keys?.secretAccessKey ?? '',
      FEEDS_S3_IS_FOLDER: 'on',
      PUBLISH_SCHEDULE: schedule,
      QUEUE_LOCK_SECONDS: '4',
    })
    onTestFinished(async () => {
      await fleet.end()
      await store.close()
      await redis.stop()
      await bucket[Symbol.asyncDispose]()
    })
    const disks = await Promise.all(commands.map(() => temporaryFolder()))
    const start = async (at: number): Promise<FleetProcess> => {
      const environment = { HOST: network.addressOf(at), GIVING_DATA_DIR: disks[at] ?? '' }
      return await fleet.launch(commands[at] ?? 'api', environment, network.within(at)).ready
    }
    const machines: FleetProcess[] = []
    for (const at of commands.keys()) machines.push(await start(at))
    const apis = () => machines.filter(({ command }) => command === 'api')
    const liveAt = async ({ baseUrl }: FleetProcess) => {
      const answer = await fetch(`${baseUrl}/feeds/manifest.json`).catch(() => undefined)
      return answer?.ok ? ((await answer.json()) as { release: string }).release : undefined
    }
    await until(async () => (await Promise.all(apis().map(liveAt))).every((live) => live !== undefined))

    const readers = readSets(() => apis().map(({ baseUrl }) => baseUrl))
    const began = new Date()
    let kills = 0
    while (Date.now() - began.getTime() < scale.machineMinutes * 60_000) {
      await store.db.query('update project set title = $1 where id = 1', [`After ${kills} kills`])
      await sleep(2_000 + ((kills * 37) % 50) * 100)
      const at = (kills * 5 + Math.floor(kills / 6)) % commands.length
      await machines[at]?.kill()
      // Every third one comes back with an empty disk.
      if (kills % 3 === 2) disks[at] = await temporaryFolder()
      machines[at] = await start(at)
      kills++
    }
    const wanted = instantsOf(schedule, began, new Date())
    const runs = await until(async () => {
      const all = await scheduledRuns(store).catch(() => [])
      const due = all.filter(({ due }) => wanted.includes(due.at.toISOString()))
      return due.length >= wanted.length && due.every(({ finishedAt }) => finishedAt) && due
    })
    for (const each of machines) if (each.command === 'worker') await each.terminate()
    expect(runs.map(({ due }) => due.at.toISOString())).toEqual(wanted)
    expect(runs.filter(({ state }) => !['published', 'unchanged', 'superseded'].includes(state))).toEqual([])
    const { sets, faults } = await readers.end()
    expect(faults).toEqual([])
    const live = await until(async () => {
      const [first, ...others] = await Promise.all(apis().map(liveAt))
      return first !== undefined && others.every((one) => one === first) && first
    })
    const { rows } = await store.db.query<{ id: string }>(`select id from release where state = 'live'`)
    expect(rows).toEqual([{ id: live }])
    record({
      name: `cluster: three API and three worker machines in namespaces, ${delayMs} ms from database, Redis and bucket, one killed every few seconds`,
      engine: 'Redis',
      tried: kills,
      outcome: `${scale.machineMinutes} min: ${wanted.length} instants with one run each; ${sets} sets read by their manifest, all whole; one release for all`,
    })
  },
)
