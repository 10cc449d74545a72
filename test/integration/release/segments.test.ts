import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tablesVersion } from '../../../src/iati/tables/tables.js'
import { listSegments, type RowsFormat, type Segment, summarizeSegments } from '../../../src/release/sql/segments.js'
import { completeSummaries } from '../../../src/release/tables/complete-summaries.js'
import { rowsFormat } from '../../../src/release/tables/table-pieces.js'
import { coreFiles, testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'

describe('the summaries of segments', async () => {
  const { store } = await testDatabase()
  const publisher = await testPublisher(store, { ...coreFiles, maxLossPercent: 100 })
  const { db } = store
  await insertProjects(
    db,
    Array.from({ length: 9 }, (_, index) => ({ id: index + 1 })),
  )
  await publisher.publish()
  await db.query('update rendering set segment = 1 + project_id / 4')

  const summarizeAs = (format: RowsFormat) =>
    store.transaction((transaction) => summarizeSegments(transaction, db, format))
  const summarize = () => completeSummaries(store, new AbortController().signal)
  const listed = () => listSegments(db, rowsFormat)
  /** As they are computed from all activities. */
  const computed = async () => {
    let segments: Segment[] = []
    const undo = new Error('undo')
    const computing = store.transaction(async (transaction) => {
      await transaction.query('delete from segment_summary')
      await transaction.query('insert into segment_change select segment from rendering where segment is not null')
      segments = await listSegments(transaction, rowsFormat)
      throw undo
    })
    await expect(computing).rejects.toBe(undo)
    return segments
  }
  const marks = async () => (await db.query('select from segment_change')).rowCount

  it('count the notices of valid activities, not of held ones', async () => {
    const noted = `update rendering set verdict = 'valid', notice_counts = '{"a": 2}' where text is not null`
    await db.query(noted)
    await summarize()
    const counted = async () => (await listed()).reduce((sum, { noticeCounts }) => sum + (noticeCounts.a ?? 0), 0)
    const all = await counted()
    await db.query(`update rendering set verdict = 'held' where project_id = (select min(project_id) from rendering)`)
    await summarize()
    expect([all, await counted()]).toEqual([all, all - 2])
    expect(all).toBeGreaterThan(2)
  })

  it('say what the activities say, after any changes', async () => {
    let inserted = 100
    const id = fc.integer({ min: 1, max: 9 })
    const change = fc.oneof(
      id.map((project) => `update rendering set content_hash = content_hash || 'x' where project_id = ${project}`),
      id.map(
        (project) =>
          `update rendering set warnings = warnings + 1, notice_counts = '{"b": 1, "a": 2}' where project_id = ${project}`,
      ),
      id.map(
        (project) =>
          `update rendering set money = '{"EUR": {"in": "10.50", "out": "0"}}' where project_id = ${project}`,
      ),
      id.map((project) => `update rendering set verdict = 'held' where project_id = ${project}`),
      id.map((project) => `update rendering set segment = segment % 3 + 1 where project_id = ${project}`),
      id.map(
        (project) =>
          `update activity_rows set counts[1] = counts[1] + 1, hashes = sha256(hashes) || hashes where project_id = ${project}`,
      ),
      id.map((project) => `delete from activity_rows where project_id = ${project}`),
      id.map((project) => `delete from rendering where project_id = ${project}`),
      fc.constant('insert'),
      fc.constant('truncate activity_rows'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 4 }), async (rounds) => {
        for (const round of rounds) {
          for (const sql of round) {
            if (sql === 'insert') {
              inserted++
              await insertProjects(db, [{ id: inserted }])
              await db.query(
                `insert into rendering select ${inserted}, 'XM-' || ${inserted}, 'valid', '<a/>', 'h', 4, now(), 0, 1, 2, '{}',
                  '[]', '', null, '{"EUR": {"in": "1"}}', 3`,
              )
            } else await db.query(sql)
          }
          expect(await listed()).toEqual(await computed())
          await summarize()
          expect(await listed()).toEqual(await computed())
        }
      }),
      { numRuns: 10 },
    )
  })

  it('are computed again by a version that computes them differently, and for rows of another version', async () => {
    await summarize()
    await db.query(`update segment_summary set summary = summary || '{"activities": 7000}'`)
    expect((await listed())[0]?.activities).toBe(7000)
    await db.query('update activity_rows set version = $1', [tablesVersion + 1])
    expect(await summarizeAs({ ...rowsFormat, version: tablesVersion + 1 })).toEqual([])
    expect(await listed()).toEqual(await computed())
  })

  it('have no summary while rows are missing or of another text or version, and are computed at the next time', async () => {
    const { store: own } = await testDatabase()
    const other = await testPublisher(own, coreFiles)
    await insertProjects(own.db, [{ id: 1 }, { id: 2 }, { id: 3 }])
    await other.publish()
    await own.db.query('update rendering set segment = project_id')
    const incomplete = async () =>
      (await own.transaction((transaction) => summarizeSegments(transaction, own.db, rowsFormat))).sort()
    expect(await incomplete()).toEqual([])
    const before = await listSegments(own.db, rowsFormat)
    await own.db.query('update activity_rows set version = version - 1 where project_id = 1')
    await own.db.query(`update activity_rows set content_hash = 'of another text' where project_id = 3`)
    for (let time = 0; time < 2; time++) {
      expect(await incomplete()).toEqual([1, 3])
      expect((await own.db.query('select segment from segment_summary')).rows).toEqual([{ segment: 2 }])
    }
    await completeSummaries(own, new AbortController().signal)
    expect((await own.db.query('select from segment_change')).rowCount).toBe(0)
    expect(await listSegments(own.db, rowsFormat)).toEqual(before)
  })

  it('have each kind of money that an activity has, by currency', async () => {
    const { store: own } = await testDatabase()
    const other = await testPublisher(own, coreFiles)
    await insertProjects(own.db, [{ id: 1 }])
    await own.db.query(`insert into disbursement (project_id, reference, disbursed_on, amount, currency)
      values (1, 'D-1', '2026-01-05', 12.50, 'EUR')`)
    await other.publish()
    const { rows } = await own.db.query<{ flows: Record<string, Record<string, string>> }>(
      'select flows from activity_rows',
    )
    const expected: Record<string, Record<string, string>> = {}
    for (const [currency, kinds] of Object.entries(rows[0]?.flows ?? {})) {
      for (const [kind, amount] of Object.entries(kinds)) expected[kind] = { ...expected[kind], [currency]: amount }
    }
    expect(Object.values(expected).some(({ EUR }) => EUR === '12.5')).toBe(true)
    expect((await listSegments(own.db, rowsFormat))[0]?.flows).toEqual(expected)
  })

  it('are not stale when a change comes between them and the release, or when the run is killed', async () => {
    await summarize()
    expect(await marks()).toBe(0)
    await db.query(`update rendering set content_hash = content_hash || 'late' where segment = 3`)
    const late = await listed()
    expect(late).toEqual(await computed())
    const killed = store.transaction(async (transaction) => {
      await summarizeSegments(transaction, db, rowsFormat)
      throw new Error('killed')
    })
    await expect(killed).rejects.toThrow('killed')
    expect(await marks()).toBeGreaterThan(0)
    expect(await listed()).toEqual(late)
    await summarize()
    expect(await listed()).toEqual(late)
  })

  it('are read by a release, and not computed from activities that did not change', async () => {
    const { store: own } = await testDatabase()
    const other = await testPublisher(own, coreFiles)
    await insertProjects(own.db, [{ id: 1 }, { id: 2 }])
    await other.publish()
    await own.db.query('update rendering set segment = project_id')
    await own.db.query(`update project set title = 'Changed' where id = 1`)
    await other.publish()
    // Nobody tells that this one changed: it is the proof that its activities are not read.
    await own.db.query(`update rendering set warnings = 5 where segment = 2`)
    await own.db.query('delete from segment_change')
    await own.db.query(`update project set title = 'Changed again' where id = 1`)
    expect((await other.publish()).state).toBe('published')
    const { files } = await other.manifest()
    const warningsOf = (path: string) => files.find((file) => file.path === path)?.notices.warnings
    expect([warningsOf('/iati/activities-2.xml'), warningsOf('/iati/bulk/activities.xml')]).not.toContain(5)
  })
})
