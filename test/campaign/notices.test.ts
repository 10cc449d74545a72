import { existsSync, readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { seed } from '../../src/demo/sql/seed.js'
import { createReleaseReader } from '../../src/release/read/release-reader.js'
import { testDatabase } from '../support/store/database.js'
import { usd } from '../support/values/builders.js'
import { askForRun, createFleet, runEnded } from './support/fleet.js'
import { record } from './support/record.js'
import { scale } from './support/scale.js'

// Each month of money is a notice or more.
const months = 50
// A worker has half of this already after a first publication of valid activities; all notices together would not fit.
const mostMegabytes = 1000

test('a mapping that makes every activity invalid many times over holds the release, in bounded memory', async () => {
  const { store, url } = await testDatabase()
  const activities = scale.invalidActivities
  await seed(store, {
    projects: activities,
    source: 'local',
    today: '2026-11-21' as never,
    currency: usd,
    baseUrl: 'https://giving.example',
    firstId: 1,
    months,
  })
  const fleet = await createFleet({ DATABASE_URL: url })
  onTestFinished(fleet.end)
  const worker = await fleet.start('worker')
  expect(await runEnded(store, await askForRun(store))).toMatchObject({ state: 'published', held: 0 })
  const reader = createReleaseReader(fleet.feedsDir)
  const before = await reader.live()
  const usual = peakMegabytes(worker.pid)

  // Stands for a mapping that writes a code that IATI does not know, for every amount.
  await store.db.query(`update donation_month set currency = 'ZZZ'`)
  const run = await runEnded(store, await askForRun(store))
  expect(run).toMatchObject({ state: 'held', held: activities, rendered: activities })
  expect(run.reason).toContain(`${activities} of ${activities} activities would be invalid (0 so far)`)
  expect((await reader.live())?.id).toBe(before?.id)

  const { rows } = await store.db.query<{ errors: number; counted: number; stored: number; manifest: HeldManifest }>(
    `select (select sum(errors) from rendering)::bigint as errors,
       (select sum(value::bigint) from rendering, jsonb_each_text(notice_counts) where key = 'code-unknown')::bigint as counted,
       (select max(jsonb_array_length(notices)) from rendering) as stored,
       (select manifest from release where id = $1) as manifest`,
    [run.releaseId],
  )
  const found = rows[0]
  // Exactly one unknown code for each amount: counted from the source, not from what was found.
  const { rows: source } = await store.db.query<{ amounts: number }>('select count(*) as amounts from donation_month')
  expect(found?.errors).toBe(found?.counted)
  expect(found?.errors).toBeGreaterThanOrEqual(activities * months)
  expect(found?.errors).toBeGreaterThanOrEqual(source[0]?.amounts ?? 0)
  expect(found?.stored).toBe(20)
  expect(found?.manifest.held.count).toBe(activities)
  expect(found?.manifest.held.sample).toHaveLength(100)
  const peak = peakMegabytes(worker.pid)
  if (peak !== undefined) expect(peak).toBeLessThan(mostMegabytes)

  await store.db.query(`update donation_month set currency = 'USD'`)
  expect((await runEnded(store, await askForRun(store))).state).toMatch(/^(published|unchanged)$/)
  expect((await reader.live())?.manifest.held.count).toBe(0)
  await fleet.end()
  record({
    name: 'every activity made invalid by the mapping',
    engine: '-',
    tried: 1,
    outcome:
      `${found?.errors} notices of ${activities} activities counted; release held, live one stayed; worker at most ` +
      `${peak ?? '?'} MB (${usual ?? '?'} MB before)`,
  })
})

type HeldManifest = { readonly held: { readonly count: number; readonly sample: readonly unknown[] } }

/** The most memory that a process has had, where the system tells. */
function peakMegabytes(pid: number): number | undefined {
  const file = `/proc/${pid}/status`
  if (!existsSync(file)) return undefined
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(file, 'utf8')) ?? []
  return kibibytes === undefined ? undefined : Math.round(Number(kibibytes) / 1024)
}
