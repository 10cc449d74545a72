import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { demoReportingOrgRef } from '../../src/kernel/demo-publisher.js'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js'
import { newInstallation } from '../support/commands/cli.js'
import { readSteadily } from '../support/portal/steady-reads.js'
import { seedProjects } from '../support/store/seeded.js'
import { duration, record } from './support/record.js'
import { scaled } from './support/scale.js'
import { smallServer } from './support/small-server.js'

const projects = scaled(10_000)
const mebibytes = 1_024
const perSecond = 15

const at = (share: number, sorted: readonly number[]) =>
  duration(sorted[Math.floor(share * sorted.length)] ?? Number.NaN)

test('one core and 1 GiB carry the service with its PostgreSQL', { timeout: 3_600_000 }, async () => {
  // A file in memory would count as memory.
  vi.stubEnv('TMPDIR', '/var/tmp')
  const { about, first, takePeak, killed } = smallServer(mebibytes)
  const installation = await newInstallation({ REPORTING_ORG_REF: demoReportingOrgRef }, { first })
  onTestFinished(() => installation.remove())
  const inStore = async (work: (store: Store) => Promise<unknown>) => {
    const server = await openEmbeddedPostgres({ dataDir: installation.dataDir })
    await using store = openStore({ url: server.url, max: 1, applicationName: 'smallest server' })
    await work(store)
    await store.close()
    await server.release()
  }
  await inStore(async (store) => {
    await migrate(store)
    await seedProjects(store, projects)
    await store.db.query('vacuum analyze')
  })
  takePeak()
  const seconds = async (work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    return duration(performance.now() - began)
  }
  const outcome: string[] = []
  const say = (what: string) => {
    outcome.push(`${what}, ${Math.round(takePeak())} MiB`)
    console.log(outcome.at(-1))
  }
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await installation.run(args)
    expect(code, stdout + stderr).toBe(0)
  }

  const began = performance.now()
  const service = await installation.start()
  say(`served after ${duration(performance.now() - began)}`)

  const reads = { baseUrl: service.baseUrl, projects, perSecond }
  const quiet = await readSteadily(reads, sleep(scaled(60) * 1_000))
  say(`reads p50 ${at(0.5, quiet)}, p99 ${at(0.99, quiet)}`)
  const anew = run('publish', '--force', '--wait')
  const busy = await readSteadily(reads, anew)
  say(`while everything is rendered anew p50 ${at(0.5, busy)}, p99 ${at(0.99, busy)}`)

  const gifts = path.join(installation.dataDir, 'gifts.csv')
  const rows = Array.from(
    { length: 1_000 },
    (_, number) => `${1 + (number % projects)},2026-01-05,12.50,USD,g-${number}`,
  )
  await writeFile(gifts, ['project,date,amount,currency,reference', ...rows, ''].join('\n'))
  say(`1,000 gifts imported in ${await seconds(() => run('import', gifts))}`)
  await run('publish', '--wait')
  await inStore((store) => store.db.query(`update project set title = title || ' anew' where id % 100 = 1`))
  takePeak()
  say(`1% changed, published in ${await seconds(() => run('publish', '--wait'))}`)

  expect(killed(), 'processes killed for memory').toBe(0)
  service.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  record({
    name: `${projects} projects on one core and 1 GiB, ${about}`,
    engine: 'PostgreSQL',
    tried: 1,
    outcome: outcome.join('; '),
  })
})
