import { rename } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { releaseFolder, switchLiveRelease } from '../../../src/release/folder/release-folder.js'
import { approveRelease, rollbackRelease } from '../../../src/release/operate/operate-releases.js'
import { publishRelease } from '../../../src/release/operate/publish-release.js'
import { diffReleases } from '../../../src/release/read/diff-releases.js'
import { getRelease, listReleases, openAnyRelease } from '../../../src/release/read/list-releases.js'
import { findLiveRelease, recordReleaseEvent } from '../../../src/release/sql/releases.js'
import { getRun } from '../../../src/work/sql/runs.js'
import { coreFiles, type Publisher, publishedCopies } from '../../support/release/publishing.js'
import { insertProjects, loseProjects } from '../../support/store/catalogue.js'
import type { TestDatabase } from '../../support/store/database.js'

let database: TestDatabase
let publisher: Publisher

const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => ({ id: from + index }))
const retitle = (id: number, title: string) =>
  database.store.db.query('update project set title = $2 where id = $1', [id, title])
const gift = (id: number, amount: string) =>
  database.store.db.query(
    `insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
      values ($1, '2026-10-01', 'USD', 'gift', 'local', $2, 1, '2026-10-20')`,
    [id, amount],
  )
const later = () => {
  publisher.now = new Date(publisher.now.getTime() + 60_000)
}

const copies = publishedCopies(10, coreFiles)

beforeEach(async () => {
  ;({ database, publisher } = await copies())
  later()
})

it('of a run that was interrupted after its own switch is its outcome when the run is taken up', async () => {
  const { id, manifest } = await publisher.live()
  const run = await getRun(database.store.db, manifest.run)
  const taken = { ...run, startedAt: publisher.now }
  const { signal } = new AbortController()
  await database.store.db.query('delete from release_event; delete from release')
  const outcome = { state: 'published', releaseId: id, held: 0 }
  expect(await publishRelease(publisher.deps, taken, { signal })).toEqual(outcome)
  const { rows } = await database.store.db.query('select release_id as id, event, at from release_event')
  expect(rows).toEqual([{ id, event: 'published', at: publisher.now }])
  await expect(publishRelease(publisher.deps, { ...taken, id: 0 }, { signal })).rejects.toThrow('is too late')
})

describe('a release that would lose too much', () => {
  it('is held when published identifiers would vanish, says why, and leaves the live one alone', async () => {
    const before = await publisher.live()
    await loseProjects(database.store, [3, 7])
    const run = await publisher.publish()
    expect(run).toMatchObject({
      state: 'held',
      reason: expect.stringMatching(/^2 published identifiers would vanish: .*-3, .*-7$/),
    })
    expect((await publisher.live()).id).toBe(before.id)
    expect(await publisher.names('drafts')).toEqual([])
    const [held, live] = await listReleases(publisher.deps)
    expect(held).toMatchObject({ id: run.releaseId, state: 'held', reason: run.reason, activities: 8 })
    expect(live).toMatchObject({ id: before.id, state: 'live', activities: 10 })
  })

  it('is held when its money falls by more than five percent', async () => {
    await gift(5, '1000.00')
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    later()
    await database.store.db.query(`update donation_month set amount = '900.00' where project_id = 5`)
    expect(await publisher.publish()).toMatchObject({
      state: 'held',
      reason: expect.stringContaining('incoming funds would fall'),
    })
  })

  it('is held when payouts fall by more than five percent, however much comes in meanwhile', async () => {
    await gift(5, '1000.00')
    const [day] = publisher.now.toISOString().split('T')
    const pay = `insert into disbursement (project_id, reference, amount, currency, disbursed_on, source)
      values (5, 'a', 500, 'USD', $1::date - 30, 'import'), (5, 'b', 300, 'USD', $1::date - 20, 'import')`
    await database.store.db.query(pay, [day])
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    later()
    await gift(6, '5000.00')
    await database.store.db.query(`delete from disbursement where reference = 'b'`)
    expect(await publisher.publish()).toMatchObject({
      state: 'held',
      reason: expect.stringMatching(
        /^money paid to partners would fall from USD 800(.00)? to 500(.00)?, by more than 5%$/,
      ),
    })
  })

  it('is held once: the same content again is the same held release, other content another one', async () => {
    await loseProjects(database.store, [3])
    const first = await publisher.publish()
    later()
    expect(await publisher.publish()).toMatchObject({ state: 'held', releaseId: first.releaseId, reason: first.reason })
    expect(await publisher.names('held')).toEqual([first.releaseId])
    later()
    await retitle(8, 'Another title')
    const other = await publisher.publish()
    expect(other).toMatchObject({ state: 'held' })
    expect(await publisher.names('held')).toEqual([first.releaseId, other.releaseId])
  })

  it('does not pile up: the three newest held releases stay', async () => {
    await loseProjects(database.store, [3])
    const ids: (string | undefined)[] = []
    for (const title of ['a', 'b', 'c', 'd', 'e']) {
      await retitle(8, title)
      ids.push((await publisher.publish()).releaseId)
      later()
    }
    await publisher.publish()
    expect(await publisher.names('held')).toEqual(ids.slice(-3))
  })
})

describe('approving', () => {
  const hold = async () => {
    await gift(5, '1000.00')
    await publisher.publish()
    later()
    await database.store.db.query(`update donation_month set amount = '100.00' where project_id = 5`)
    const run = await publisher.publish()
    expect(run.state).toBe('held')
    later()
    return run.releaseId ?? ''
  }

  it('makes a held release live exactly as it was built', async () => {
    const id = await hold()
    const built = await openAnyRelease(publisher.feedsDir, id)
    const before = await publisher.live()
    expect(await approveRelease(publisher.deps, id, { acceptLoss: false })).toEqual({
      release: id,
      previous: before.id,
      withdrawn: 0,
    })
    expect((await publisher.live()).manifest).toEqual(built.manifest)
    expect(await publisher.names('held')).toEqual([])
    expect(await findLiveRelease(database.store.db)).toMatchObject({ id, state: 'live' })
    const { events } = await getRelease(publisher.deps, id)
    expect(events.map(({ event }) => event)).toEqual(['held', 'approved'])
    later()
    expect(await publisher.publish()).toMatchObject({ state: 'unchanged', releaseId: id })
  })

  it('goes on where it was interrupted, between moving the release and switching to it', async () => {
    const id = await hold()
    const { held, releases } = releaseFolder(publisher.feedsDir)
    await rename(path.join(held, id), path.join(releases, id))
    expect(await approveRelease(publisher.deps, id, { acceptLoss: false })).toMatchObject({ release: id })
    expect((await publisher.live()).id).toBe(id)
  })

  it('is refused when a newer release has been published, and for what is not held', async () => {
    const id = await hold()
    await gift(6, '2000.00')
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    await expect(approveRelease(publisher.deps, id, { acceptLoss: true })).rejects.toMatchObject({
      code: 'release-refused',
      message: expect.stringContaining('has published since'),
    })
    // Also while what was published since is taken down.
    const [newest, before] = (await listReleases(publisher.deps)).filter(({ state }) => state !== 'held')
    expect(newest?.state).toBe('live')
    await rollbackRelease(publisher.deps, before?.id ?? '')
    await expect(approveRelease(publisher.deps, id, { acceptLoss: true })).rejects.toMatchObject({
      message: expect.stringContaining('has published since'),
    })
    await expect(approveRelease(publisher.deps, '20260101T000000Z-1', { acceptLoss: false })).rejects.toMatchObject({
      code: 'not-found',
    })
    await expect(approveRelease(publisher.deps, '../releases', { acceptLoss: false })).rejects.toMatchObject({
      code: 'not-found',
    })
  })

  it('needs a word more when identifiers vanish, and then they are given up for ever', async () => {
    await loseProjects(database.store, [3])
    const { releaseId = '' } = await publisher.publish()
    await expect(approveRelease(publisher.deps, releaseId, { acceptLoss: false })).rejects.toMatchObject({
      code: 'release-refused',
      message: expect.stringMatching(/lacks 1 published identifier \(.*-3\): .*--accept-loss/),
    })
    expect(await approveRelease(publisher.deps, releaseId, { acceptLoss: true })).toMatchObject({ withdrawn: 1 })
    later()
    await retitle(8, 'Better')
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    await loseProjects(database.store, [4])
    later()
    expect(await publisher.publish()).toMatchObject({
      state: 'held',
      reason: expect.stringMatching(/^1 published identifier would vanish: .*-4$/),
    })
  })

  it('gives up identifiers until they come back, which are then promised again, and no others', async () => {
    await loseProjects(database.store, [3, 4])
    const { releaseId = '' } = await publisher.publish()
    expect(await approveRelease(publisher.deps, releaseId, { acceptLoss: true })).toMatchObject({ withdrawn: 2 })
    later()
    await insertProjects(database.store.db, [{ id: 3 }])
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    later()
    await loseProjects(database.store, [3])
    expect(await publisher.publish()).toMatchObject({
      state: 'held',
      reason: expect.stringMatching(/^1 published identifier would vanish: .*-3$/),
    })
  })

  it('keeps the promise of identifiers that it is the first to publish', async () => {
    await loseProjects(database.store, [3])
    await insertProjects(database.store.db, [{ id: 900 }])
    const { releaseId = '' } = await publisher.publish()
    await approveRelease(publisher.deps, releaseId, { acceptLoss: true })
    await loseProjects(database.store, [900])
    later()
    expect(await publisher.publish()).toMatchObject({ state: 'held', reason: expect.stringContaining('-900') })
  })
})

describe('rolling back', () => {
  const publishTwice = async () => {
    const first = await publisher.live()
    await retitle(1, 'A title with a mistake')
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    later()
    return { first, second: await publisher.live() }
  }

  it('puts an earlier release back, and the same content does not undo it', async () => {
    const { first, second } = await publishTwice()
    expect(await rollbackRelease(publisher.deps, first.id)).toMatchObject({
      release: first.id,
      from: second.id,
      missing: { count: 0 },
    })
    expect((await publisher.live()).id).toBe(first.id)
    expect(await findLiveRelease(database.store.db)).toMatchObject({ id: first.id })
    expect(await publisher.publish()).toMatchObject({ state: 'unchanged', releaseId: first.id })
    expect(await publisher.publish({ force: true })).toMatchObject({ state: 'unchanged', releaseId: first.id })
  })

  it('lasts until a publication has other content', async () => {
    const { first, second } = await publishTwice()
    await rollbackRelease(publisher.deps, first.id)
    await retitle(1, 'The right title')
    const run = await publisher.publish()
    expect(run.state).toBe('published')
    expect(await publisher.read('/iati/activities.xml')).toContain('The right title')
    const ids = (await listReleases(publisher.deps)).map(({ id, state }) => [id, state])
    expect(ids).toEqual([
      [run.releaseId, 'live'],
      [second.id, 'superseded'],
      [first.id, 'superseded'],
    ])
  })

  it('keeps what was taken down, however often it is rolled back', async () => {
    const { first, second } = await publishTwice()
    await retitle(2, 'A second mistake')
    await publisher.publish()
    const third = await publisher.live()
    await rollbackRelease(publisher.deps, second.id)
    await rollbackRelease(publisher.deps, first.id)
    expect(await publisher.publish()).toMatchObject({ state: 'unchanged', releaseId: first.id })
    await rollbackRelease(publisher.deps, third.id)
    expect((await publisher.live()).id).toBe(third.id)
    expect(await publisher.publish()).toMatchObject({ state: 'unchanged', releaseId: third.id })
  })

  it('is finished by the next run when it was interrupted before the switch', async () => {
    const { first, second } = await publishTwice()
    const at = publisher.now
    await recordReleaseEvent(database.store.db, { releaseId: first.id, event: 'rolled-back', otherId: second.id, at })
    expect(await publisher.publish()).toMatchObject({ state: 'unchanged', releaseId: first.id })
    expect((await publisher.live()).id).toBe(first.id)
  })

  it('is refused for the live release, a held one and an unknown one', async () => {
    const { second } = await publishTwice()
    await expect(rollbackRelease(publisher.deps, second.id)).rejects.toMatchObject({ code: 'release-refused' })
    await expect(rollbackRelease(publisher.deps, '20260101T000000Z-1')).rejects.toMatchObject({ code: 'not-found' })
    await loseProjects(database.store, [3])
    const { releaseId = '' } = await publisher.publish()
    await expect(rollbackRelease(publisher.deps, releaseId)).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('an older release never stays over a newer one', () => {
  it('gives way when a writer that was cut off switched to it at the last moment', async () => {
    const old = await publisher.live()
    await retitle(1, 'Newer')
    await publisher.publish()
    const newer = await publisher.live()
    await switchLiveRelease(releaseFolder(publisher.feedsDir), old.id)
    expect(await publisher.publish()).toMatchObject({ state: 'unchanged', releaseId: newer.id })
    expect((await publisher.live()).id).toBe(newer.id)
  })

  it('orders releases by run when the clock is set back, and no date goes back', async () => {
    const old = await publisher.live()
    publisher.now = new Date('2026-11-20T23:00:00Z')
    await retitle(1, 'Newer, at an earlier hour')
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    const newer = await publisher.live()
    expect(newer.manifest.run).toBeGreaterThan(old.manifest.run)
    expect(newer.manifest.generated > old.manifest.generated).toBe(true)
    const times = [...(await publisher.read('/iati/activities.xml')).matchAll(/last-updated-datetime="([^"]+)"/g)]
    expect(times.map(([, at]) => at ?? '').every((at) => at >= old.manifest.generated)).toBe(true)
  })

  it('does not follow a clock that had been wrong by years', async () => {
    publisher.now = new Date('2031-01-01T00:00:00Z')
    await retitle(1, 'From the future')
    await publisher.publish()
    publisher.now = new Date('2026-11-22T02:00:00Z')
    await retitle(1, 'From now')
    await publisher.publish()
    expect((await publisher.manifest()).generated).toBe('2026-11-22T02:00:00Z')
  })
})

describe('the difference of two releases', () => {
  it('names what was added, removed and changed, and counts money and files', async () => {
    const before = await publisher.live()
    await gift(5, '250.50')
    await retitle(8, 'Changed')
    await insertProjects(database.store.db, range(100, 2))
    await loseProjects(database.store, [3])
    const run = await publisher.publish()
    expect(run.state).toBe('held')
    const diff = await diffReleases(before, await openAnyRelease(publisher.feedsDir, run.releaseId ?? ''))
    const ref = 'US-EIN-123456789'
    expect(diff.activities).toEqual({
      added: { count: 2, sample: [`${ref}-100`, `${ref}-101`] },
      removed: { count: 1, sample: [`${ref}-3`] },
      changed: { count: 2, sample: [`${ref}-5`, `${ref}-8`] },
      ended: { count: 0, sample: [] },
      same: 7,
    })
    expect(diff.money).toEqual({ USD: { from: '0', to: '250.50', change: '250.5000' } })
    expect(diff.sums).toContainEqual({ currency: 'USD', kind: 'in', from: '0', to: '250.5', change: '250.5' })
    expect(diff.files.find(({ path }) => path === '/iati/activities.xml')).toMatchObject({
      change: 'changed',
      records: { from: 10, to: 11 },
    })
    expect(diff.files.find(({ path }) => path === '/iati/organisations.xml')).toMatchObject({ change: 'same' })
  })
})
