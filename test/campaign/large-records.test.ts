import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isFinished } from '../../src/work/run.js'
import { createRun, getRun } from '../../src/work/sql/runs.js'
import { newInstallation, type RunningService } from '../support/commands/cli.js'
import {
  expectLinear,
  largeActivity,
  largeOrganisation,
  largePublisher,
  repeatedThings,
} from '../support/release/large-records.js'
import { testDatabase } from '../support/store/database.js'
import { scaled } from './support/scale.js'

// What the documents promise of SIGTERM.
const mostMs = 10_000
const patience = { timeout: 600_000, interval: 20 }

test('40,000 transactions of an activity and 20,000 budgets of the publisher go live beside what else the process does', async () => {
  const { store, url } = await testDatabase()
  const installation = await newInstallation({
    ...{ DATABASE_URL: url, REPORTING_ORG_REF: largePublisher, DEFAULT_CURRENCY: 'USD', LOG_FORMAT: 'text' },
    // As by default, so that the lease is one that a service has.
    ...{ PUBLISH_SCHEDULE: '0 0 29 2 *', QUEUE_LOCK_SECONDS: '10' },
  })
  onTestFinished(() => installation.remove())
  for (const text of [largeActivity(40_000), largeOrganisation(20_000)]) {
    const file = path.join(installation.dataDir, 'large.xml')
    await writeFile(file, text)
    expect(await installation.run(['import', '--kind', 'iati', file])).toMatchObject({ code: 0 })
  }

  /** Starts the API and the worker in one process, which publishes at once. */
  const start = async (): Promise<RunningService & { readonly run: number; readonly address: string }> => {
    const service = await installation.serve('start', 'publishing ...')
    const address = /index page:\s+(http:\S+?)\/\s/.exec(service.output())?.[1] ?? ''
    const { rows } = await store.db.query<{ id: number }>('select max(id) as id from run')
    return Object.assign(service, { run: rows[0]?.id ?? 0, address })
  }

  // Stopped when the run has begun, when its shard is taken, and when that is rendered; or, on a fast machine, when all is done.
  const moments = [
    'select from run where id = $1 and started_at is not null',
    'select from run_shard where run_id = $1 and lease_owner is not null',
    'select from run_shard where run_id = $1 and rendered > 0',
  ]
  for (const [index, moment] of moments.entries()) {
    await store.db.query('update project set need = $1', [`moment ${index}`])
    const service = await start()
    const isThere = async () =>
      (
        await store.db.query(`${moment} union all select from run where id = $1 and finished_at is not null`, [
          service.run,
        ])
      ).rowCount
    await expect.poll(isThere, patience).toBeGreaterThan(0)
    const began = performance.now()
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    expect(performance.now() - began).toBeLessThan(mostMs)
  }

  const service = await start()
  // What was stopped goes on: no run has failed.
  const states = async () =>
    (await store.db.query<{ state: string }>('select distinct state from run order by state')).rows.map(
      ({ state }) => state,
    )
  const hasEnded = async () => (await states()).every((state) => state === 'published' || state === 'unchanged')
  await expect.poll(hasEnded, { ...patience, message: service.output() }).toBe(true)
  const { id } = await createRun(store.db, { trigger: 'manual', force: true, at: new Date() })
  const answers: number[] = []
  let longest = 0
  for (;;) {
    const asked = performance.now()
    answers.push((await fetch(`${service.address}/healthz`)).status)
    longest = Math.max(longest, performance.now() - asked)
    const run = await getRun(store.db, id)
    if (!run || !isFinished(run)) continue
    expect(run).toMatchObject({ attempt: 1, rendered: 1 })
    expect(['published', 'unchanged']).toContain(run.state)
    break
  }
  console.info(`/healthz: ${answers.length} answers, the longest after ${Math.round(longest)} ms`)
  expect(new Set(answers)).toEqual(new Set([200]))
  expect(service.output()).not.toMatch(/could not be renewed|taken this run over/)
  const counted = async (file: string, element: string) => {
    const text = await (await fetch(`${service.address}/iati/${file}`)).text()
    return text.split(`<${element}>`).length - 1
  }
  expect(await counted('activities.xml', 'transaction')).toBe(40_000)
  expect(await counted('organisations.xml', 'recipient-org-budget')).toBe(20_000)
  service.kill('SIGTERM')
  expect(await service.ended).toBe(0)
})

test.each(Object.keys(repeatedThings))('40,000 %s cost at most 2.3 times as much as 20,000', async (thing) => {
  await expectLinear(thing, scaled(10_000))
})
