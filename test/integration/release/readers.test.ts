import { expect, it } from 'vitest'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { followReleases } from '../../campaign/support/readers.js'
import { seeded } from '../../campaign/support/record.js'
import { listen, testApi } from '../../support/api/api.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { seedProjects } from '../../support/store/seeded.js'

it('readers of every kind follow releases: nothing torn, mixed or missing', async () => {
  const { store } = await testDatabase()
  const publisher = await testPublisher(store)
  await seedProjects(store, 30)
  const publish = async (round: number) => {
    await store.db.query('update project set title = $1', [`Round ${round}`])
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
  }
  await publish(0)
  const { app } = await testApi(store, { releases: createReleaseReader(publisher.feedsDir) })
  const report = await followReleases({
    baseUrl: await listen(app),
    releases: 4,
    plain: 5,
    random: seeded('readers'),
    publish,
  })
  expect(report.faults).toEqual([])
  expect(report.releases).toBeGreaterThanOrEqual(4)
  expect(report.resumed.restarted).toBeGreaterThan(0)
  expect(report.fetched).toBeGreaterThan(3)
})
