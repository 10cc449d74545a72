import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { listDifferences } from '../../src/money/sql/books-check.js'
import type { Store } from '../../src/platform/database/store.js'
import { exported, fillWithTemplates } from '../support/catalogue/import-undo.js'
import { runCommandLine } from '../support/commands/command-line.js'
import { emptyDatabase, testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { killedAfter } from './support/killed-after.js'
import { record, seeded } from './support/record.js'
import { scale, scaled } from './support/scale.js'

const gifts = scaled(20_000)

const totals = async (store: Store) => {
  const { rows } = await store.db.query<{ gifts: number; sum: number }>(
    `select (select count(*)::int from imported_gift) as gifts,
      (select coalesce(sum(amount), 0)::float8 from donation_month where kind = 'gift') as sum`,
  )
  return rows[0] ?? { gifts: 0, sum: 0 }
}

describe('faults that were not tried before: nothing is lost, double or torn', () => {
  it(`a source with ${gifts} gifts that is killed while it is read, again and again`, async () => {
    const { store, url } = await testDatabase()
    const folder = await temporaryFolder()
    await fillWithTemplates(store, folder)
    const drop = path.join(folder, 'drop')
    await mkdir(drop)
    const lines = Array.from(
      { length: gifts },
      (_, at) => `${101 + (at % 2)},2025-0${7 + (at % 3)}-1${at % 9},5.25,USD,K-${at}`,
    )
    await writeFile(path.join(drop, 'gifts.csv'), ['project,date,amount,currency,reference', ...lines, ''].join('\n'))
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: folder, DEFAULT_CURRENCY: 'USD' }
    const add = ['sources', 'add', 'office', '--kind', 'gifts', '--from', drop, '--schedule', '0 3 * * *']
    expect(await runCommandLine(add, environment)).toMatchObject({ code: 0 })
    const before = await totals(store)
    const random = seeded('kills of a source')
    let kills = 0
    for (let tried = 0; tried < scaled(20); tried++) {
      if ((await killedAfter(800 + random() * 4_000, environment, ['sources', 'run', 'office'])) !== null) break
      kills++
      // As when its lease has ended.
      await store.db.query('update import_source set lease_until = null')
      // Gifts and their months are one whatever the moment was.
      expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
    }
    // The lock of a process that was killed ends with its session.
    const run = () => runCommandLine(['sources', 'run', 'office'], environment)
    let last = await run()
    while (last.stderr.includes('another process works on the source')) {
      await sleep(1_000)
      last = await run()
    }
    expect(last.code, last.stderr).toBe(0)
    const after = await totals(store)
    const found = { gifts: after.gifts - before.gifts, sum: after.sum - before.sum }
    expect(found).toEqual({ gifts, sum: gifts * 5.25 })
    record({
      name: `a source with ${gifts} gifts, killed while it is read`,
      engine: '-',
      tried: kills,
      outcome: `${found.gifts} gifts of ${gifts}, ${found.sum} USD; lost 0, double 0, torn 0`,
    })
  }, 1_200_000)

  it('a restore that is killed at any moment: the next one is whole, or says what is in its way', async () => {
    const { store, url } = await testDatabase()
    const folder = await temporaryFolder()
    await fillWithTemplates(store, folder)
    const before = await exported(store)
    const file = path.join(folder, 'backup.sql.gz')
    expect(await runCommandLine(['backup', file], { DATABASE_URL: url, GIVING_DATA_DIR: folder })).toMatchObject({
      code: 0,
    })
    const random = seeded('kills of a restore')
    let kills = 0
    for (let tried = 0; tried < scale.kills; tried++) {
      const other = await emptyDatabase()
      const environment = { DATABASE_URL: other.url, GIVING_DATA_DIR: await temporaryFolder() }
      const code = await killedAfter(500 + random() * 3_000, environment, ['restore', file])
      if (code === null) {
        kills++
        const again = await runCommandLine(['restore', file], environment)
        // The one that was killed may have been done: then the store is not empty.
        if (again.code !== 0) expect(again.stderr).toMatch(/a backup is restored into an empty store/)
      }
      expect(await exported(other.store), `try ${tried}`).toEqual(before)
      await other.drop()
    }
    record({
      name: 'a restore killed at any moment, and done again',
      engine: '-',
      tried: kills,
      outcome: 'the same export; lost 0, double 0, torn 0',
    })
    expect(kills).toBeGreaterThan(0)
  }, 1_200_000)
})
