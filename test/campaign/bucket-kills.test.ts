import { describe, expect, it } from 'vitest'
import { deliverRelease } from '../../src/extensions/bucket/deliver-release.js'
import { verifyPublished } from '../../src/extensions/verify/verify-published.js'
import { testPublisher } from '../support/release/publishing.js'
import { followedRelease, killDelivery, startBucketServer } from '../support/servers/bucket-server.js'
import { insertProjects } from '../support/store/catalogue.js'
import { testDatabase } from '../support/store/database.js'
import { record } from './support/record.js'
import { scale } from './support/scale.js'

describe('a delivery to a bucket', () => {
  it('killed between any two objects leaves one whole set, and the next one finishes it', {
    timeout: 1_800_000,
  }, async () => {
    const { store, url } = await testDatabase()
    const publisher = await testPublisher(store)
    await using server = await startBucketServer()
    const { feedsDir, clock } = publisher.deps
    const signal = new AbortController().signal
    await insertProjects(store.db, [{ id: 1 }, { id: 2 }, { id: 3 }])
    await store.db.query(
      `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url, source)
        select id, id, 'News', '2026-01-01', '2026-01-01', '<p>News</p>', 'https://giving.example/r/' || id, 'local'
        from generate_series(1, 3) id`,
    )
    await publisher.publish()
    const deliver = async () => {
      while (
        (await deliverRelease({ store, feedsDir, clock, bucket: server.settings }, signal)).startsWith('another')
      ) {}
    }
    await deliver()
    let before = (await publisher.live()).id
    let kills = 0
    for (let at = 0; kills < scale.bucketKills; at++) {
      await store.db.query('update project set title = $1', [`Title ${at}`])
      publisher.now = new Date(publisher.now.getTime() + 24 * 3_600_000)
      await publisher.publish()
      const { id } = await publisher.live()
      if (!(await killDelivery(server, url, feedsDir, at))) break
      kills++
      const followed = await followedRelease(server)
      expect([before, id], `after ${at} writes`).toContain(followed)
      await deliver()
      const verified = await verifyPublished({
        ...{ baseUrl: server.url, maxAgeHours: 36, maxSeconds: 600, now: publisher.now, last: undefined, signal },
      })
      expect(verified, `after ${at} writes`).toMatchObject({ findings: [], release: id })
      before = id
    }
    record({
      name: 'delivery to an S3 bucket killed before each of its writes',
      engine: '-',
      tried: kills,
      outcome: 'readers of the manifest saw one whole set each time, and the next delivery finished it',
    })
    expect(kills).toBeGreaterThan(Math.min(60, scale.bucketKills - 1))
  })
})
