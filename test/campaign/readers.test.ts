import { expect, onTestFinished, test } from 'vitest'
import { faultsOf } from '../support/release/published-folder.js'
import { testDatabase } from '../support/store/database.js'
import { seedProjects } from '../support/store/seeded.js'
import { askForRun, createFleet, runEnded } from './support/fleet.js'
import { followReleases } from './support/readers.js'
import { record, seeded } from './support/record.js'
import { scale } from './support/scale.js'

test('a fetcher and many readers follow releases: nothing torn, mixed or missing', async () => {
  const { store, url } = await testDatabase()
  const fleet = await createFleet({ DATABASE_URL: url })
  onTestFinished(fleet.end)
  await seedProjects(store, 250)
  const api = await fleet.start('api')
  await fleet.start('worker')
  const publish = async (round: number) => {
    await store.db.query('update project set title = $1', [`Round ${round}`])
    expect(await runEnded(store, await askForRun(store))).toMatchObject({ state: 'published' })
  }
  await publish(0)
  const report = await followReleases({
    baseUrl: api.baseUrl,
    releases: scale.releases,
    plain: scale.plainReaders,
    random: seeded('readers'),
    publish,
  })
  expect(report.faults).toEqual([])
  expect(report.releases).toBeGreaterThanOrEqual(scale.releases)
  expect(report.resumed.restarted).toBeGreaterThan(0)
  expect(await faultsOf(fleet.feedsDir, store)).toEqual([])
  const { reads, fetched, sets, resumed } = report
  record({
    name: `releases followed by a fetcher and ${scale.plainReaders} readers`,
    engine: '-',
    tried: scale.releases,
    outcome:
      `${reads} reads, none torn, mixed or missing; ${fetched} files fetched after HEAD; ${sets} sets read by ` +
      `their manifest; ${resumed.restarted} resumed downloads restarted, ${resumed.carriedOn} carried on`,
  })
})
