import { beforeEach, describe, expect, it } from 'vitest'
import { coreFiles, type Publisher, testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { type TestDatabase, testDatabase } from '../../support/store/database.js'

let database: TestDatabase
let publisher: Publisher

beforeEach(async () => {
  database = await testDatabase()
  publisher = await testPublisher(database.store, coreFiles)
  await insertProjects(
    database.store.db,
    Array.from({ length: 5 }, (_, index) => ({ id: index + 1 })),
  )
})

const at = async (instant: string) => {
  publisher.now = new Date(instant)
  return await publisher.publish()
}
const gift = (id: number, month: string, day: string) =>
  database.store.db.query(
    `insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
      values ($1, $2, 'USD', 'gift', 'local', 10, 1, $3)`,
    [id, month, day],
  )
const ownText = async (id: number) => {
  const [, text = ''] =
    new RegExp(`(<iati-activity (?:(?!</iati-activity>)[^])*?-${id}</iati-identifier>[^]*?</iati-activity>)`).exec(
      await publisher.read('/iati/activities.xml'),
    ) ?? []
  return text
}

describe('time alone', () => {
  it('changes nothing within a UTC day, whatever the hour', async () => {
    expect(await at('2026-11-21T00:00:00Z')).toMatchObject({ state: 'published', rendered: 5 })
    expect(await at('2026-11-21T12:00:00Z')).toMatchObject({ state: 'unchanged', rendered: 0 })
    expect(await at('2026-11-21T23:59:59Z')).toMatchObject({ state: 'unchanged', rendered: 0 })
  })

  it('renders only what a day changes: a running month that closes, at the first moment of the next', async () => {
    await gift(2, '2026-11-01', '2026-11-10')
    await at('2026-11-21T02:00:00Z')
    const before = await ownText(2)
    expect(await at('2026-11-29T23:59:59Z')).toMatchObject({ state: 'unchanged', rendered: 0 })
    expect(await at('2026-11-30T00:00:00Z')).toMatchObject({ state: 'published', rendered: 1, changed: 1 })
    expect(await ownText(2)).not.toBe(before)
    expect(await ownText(2)).toContain('<transaction-date iso-date="2026-11-30"')
    expect(await at('2026-12-01T00:00:00Z')).toMatchObject({ state: 'unchanged', rendered: 0 })
  })

  it('knows the leap day', async () => {
    await gift(2, '2028-02-01', '2028-02-10')
    await at('2028-02-28T02:00:00Z')
    expect(await ownText(2)).toContain('<transaction-date iso-date="2028-02-10"')
    expect(await at('2028-02-29T00:00:00Z')).toMatchObject({ state: 'published', rendered: 1 })
    expect(await ownText(2)).toContain('<transaction-date iso-date="2028-02-29"')
    expect(await at('2028-03-01T00:00:00Z')).toMatchObject({ state: 'unchanged', rendered: 0 })
  })

  it('set back by a day renders nothing again and publishes nothing older', async () => {
    await gift(2, '2026-11-01', '2026-11-10')
    await at('2026-11-30T00:30:00Z')
    const live = await publisher.live()
    expect(await at('2026-11-29T23:30:00Z')).toMatchObject({ state: 'unchanged', releaseId: live.id })
    expect(await at('2026-11-30T01:00:00Z')).toMatchObject({ state: 'unchanged', releaseId: live.id })
  })

  it('does not pile up releases: the three newest stay, the others until 48 hours after they were superseded', async () => {
    const ids: (string | undefined)[] = []
    // The files are as old as this test, so the clock starts where the machine's is.
    const begun = Date.now()
    const hours = async (after: number, title: string) => {
      await database.store.db.query('update project set title = $1 where id = 1', [title])
      return await at(new Date(begun + after * 3_600_000).toISOString())
    }
    for (let hour = 1; hour <= 6; hour++) ids.push((await hours(hour, `Hour ${hour}`)).releaseId)
    expect(await publisher.names('releases')).toEqual(ids)
    await hours(72, 'Hour 6')
    expect(await publisher.names('releases')).toEqual(ids.slice(-3))
  })
})
