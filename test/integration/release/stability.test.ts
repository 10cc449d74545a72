import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { seed } from '../../../src/demo/sql/seed.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { day, mappingConfig } from '../../support/values/builders.js'

const activities = '/iati/activities.xml'
const { store } = await testDatabase()
const { currency, baseUrl } = mappingConfig
await seed(store, { projects: 40, source: 'local', firstId: 1, today: day('2026-11-20'), currency, baseUrl })
const publisher = await testPublisher(store)
expect((await publisher.publish()).state).toBe('published')

async function publishAt(instant: string, force = false): Promise<string> {
  publisher.now = new Date(instant)
  return (await publisher.publish({ force })).state
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

describe('the bytes of a store', { shuffle: false }, () => {
  describe('point 3: bytes and last-updated-datetime of unchanged input', () => {
    it('stay the same, also when everything is mapped again', async () => {
      const before = await publisher.manifest()
      expect(await publishAt('2026-11-21T03:00:00Z')).toBe('unchanged')
      expect(await publishAt('2026-11-21T04:00:00Z', true)).toBe('unchanged')
      expect(await publisher.manifest()).toEqual(before)
    })

    it('of all but one activity stay when one project changes', async () => {
      const before = { manifest: await publisher.manifest(), text: await publisher.read(activities) }
      await store.db.query(`update project set summary = 'Another summary.' where id = 7`)
      expect(await publishAt('2026-11-21T05:00:00Z')).toBe('published')
      const lines = before.text.split('\n')
      const text = await publisher.read(activities)
      const changed = text
        .split('\n')
        .flatMap((line, index) => (line === lines[index] ? [] : [line.slice(0, 70)]))
        .filter((line) => line.startsWith('<iati-activit'))
      expect(changed).toEqual([
        expect.stringContaining('<iati-activities version="2.03"'),
        expect.stringContaining('<iati-activity last-updated-datetime="2026-11-21T05:00:00Z"'),
      ])
      const { files } = await publisher.manifest()
      const moved = files.filter(
        (file) => file.sha256 !== before.manifest.files.find(({ path }) => path === file.path)?.sha256,
      )
      // The unsegmented copy is the same file under a second address; the index tells of the file. No other table has the summary.
      expect(moved.map(({ path }) => path)).toEqual([
        ...[activities, '/iati/bulk/activities.xml', '/iati/index.json'],
        ...['/data/activities.csv', '/data/activities.parquet'],
      ])
    })

    it('can be told from the manifest, which hashes them without generated-datetime', async () => {
      const { files, previousReleases, release } = await publisher.manifest()
      for (const { path, sha256: whole, contentSha256 } of files.filter((file) =>
        /^\/iati\/.*\.xml$/.test(file.path),
      )) {
        const text = await publisher.read(path)
        expect(sha256(text)).toBe(whole)
        expect(sha256(text.replace(/ generated-datetime="[^"]*"/, ''))).toBe(contentSha256)
      }
      expect(previousReleases?.map((one) => one.manifest)).toEqual([
        `/feeds/releases/${previousReleases?.[0]?.release}/feeds/manifest.json`,
      ])
      expect(previousReleases?.[0]?.release).not.toBe(release)
    })
  })

  describe('a run in which nothing changed', () => {
    // Past the trigger, as no statement of the program does: only who reads the content notices it.
    const changeUnmarked = () =>
      store.db.query('update rendering set content_hash = md5(content_hash) where project_id = 9')
    const mark = () => store.db.query('update rendering set verdict = verdict where project_id = 9')

    it('does not read the content, until a statement leaves its mark', async () => {
      expect(await publishAt('2026-11-21T05:10:00Z')).toBe('unchanged')
      await changeUnmarked()
      expect(await publishAt('2026-11-21T05:11:00Z')).toBe('unchanged')
      await mark()
      expect(await publishAt('2026-11-21T05:12:00Z')).toBe('published')
      expect(await publishAt('2026-11-21T05:13:00Z')).toBe('unchanged')
    })

    it('reads it on another day and with another configuration', async () => {
      await changeUnmarked()
      expect(await publishAt('2026-11-22T05:00:00Z')).toBe('published')
      await changeUnmarked()
      const { deps, now } = publisher
      const licensed = await testPublisher(store, { ...deps, mappingConfig: { ...mappingConfig, licence: 'odc-by' } })
      licensed.now = now
      expect((await licensed.publish()).state).toBe('published')
    })

    it('does not take a change that was committed after it had read for one that it knows', async () => {
      await store.connection(async (db) => {
        await db.query('begin')
        await db.query('update rendering set content_hash = md5(content_hash), text = text where project_id = 9')
        expect(await publishAt('2026-11-22T05:20:00Z')).toBe('published')
        await db.query('commit')
      })
      expect(await publishAt('2026-11-22T05:21:00Z')).toBe('published')
    })
  })

  describe('point 4: money', () => {
    it('of every activity equals the books in every currency, and a difference holds the release', async () => {
      await store.db.query(`insert into disbursement (project_id, reference, disbursed_on, amount, currency, source)
      values (3, 'in-euros', '2026-10-01', 20.5, 'EUR', 'local')`)
      expect(await publishAt('2026-11-22T06:00:00Z')).toBe('published')
      const live = await publisher.manifest()

      await store.db.query(`update project set summary = 'Changed once more.' where id = 3`)
      // Past the triggers, as a defect would be: the money moves, and the project is not marked.
      await store.db.query(`alter table disbursement disable trigger user;
      create function move_money() returns trigger language plpgsql as $$ begin
        update disbursement set amount = amount + 1 where reference = 'in-euros' and amount < 21; return null; end $$;
      create trigger move_money after insert or update on rendering execute function move_money()`)
      publisher.now = new Date('2026-11-22T07:00:00Z')
      expect((await publisher.publish()).state).toBe('held')
      const { rows } = await store.db.query<{ outcome: string }>(
        'select outcome::text from run order by id desc limit 1',
      )
      expect(rows[0]?.outcome).toContain(
        'the transactions of 1 activity do not add up to the books: US-EIN-123456789-3 (EUR out: the books have 1.00 more)',
      )
      expect((await publisher.manifest()).release).toBe(live.release)
    })
  })
})
