import { describe, expect, it } from 'vitest'
import { seed } from '../../../src/demo/sql/seed.js'
import { isoDateOf } from '../../../src/kernel/dates.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { usd } from '../../support/values/builders.js'

// More than the samples that a manifest has.
const projects = 110

const database = await testDatabase()
const today = isoDateOf(new Date('2026-11-21T02:00:00Z'))
await seed(database.store, {
  projects,
  source: 'local',
  today,
  currency: usd,
  baseUrl: 'https://giving.example',
  firstId: 1,
})

/** Stands for a mapping that leaves something out: no activity has a title any more. */
const spoil = () => database.store.db.query(`update project set title = '<p></p>'`)
const fix = () => database.store.db.query(`update project set title = 'Project ' || id`)

describe('a mapping that makes every activity invalid', { shuffle: false }, () => {
  it('on a first publication publishes nothing, and says what is wrong', async () => {
    await spoil()
    const publisher = await testPublisher(database.store)
    const run = await publisher.publish()
    expect(run).toMatchObject({ state: 'held', held: projects })
    expect(run.reason).toMatch(new RegExp(`^none of the ${projects} activities is valid: [a-z-]+`))
  })

  it('holds the release, with exact counts and few samples; every text stays, and fixing it ends the hold', async () => {
    await fix()
    const good = await testPublisher(database.store)
    expect(await good.publish()).toMatchObject({ state: 'published' })
    const text = await good.read('/iati/activities.xml')
    await spoil()
    good.now = new Date('2026-11-22T02:00:00Z')
    const run = await good.publish()
    expect(run).toMatchObject({ state: 'held', held: projects })
    expect(run.reason).toMatch(new RegExp(`^${projects} of ${projects} activities would be invalid \\(0 so far\\)`))
    expect(await good.read('/iati/activities.xml')).toBe(text)
    const { rows } = await database.store.db.query<{ manifest: { held: { count: number; sample: unknown[] } } }>(
      'select manifest from release where id = $1',
      [run.releaseId],
    )
    expect(rows[0]?.manifest.held.count).toBe(projects)
    expect(rows[0]?.manifest.held.sample).toHaveLength(100)
    const counted = await database.store.db.query<{ errors: number; stored: number }>(
      'select min(errors) as errors, max(jsonb_array_length(notices)) as stored from rendering',
    )
    expect(counted.rows[0]?.errors).toBeGreaterThan(0)
    expect(counted.rows[0]?.stored).toBeLessThanOrEqual(20)
    expect(await good.publish()).toMatchObject({ state: 'held', releaseId: run.releaseId })
    await fix()
    good.now = new Date('2026-11-23T02:00:00Z')
    expect(['published', 'unchanged']).toContain((await good.publish()).state)
    expect((await good.manifest()).held.count).toBe(0)
  })
})
