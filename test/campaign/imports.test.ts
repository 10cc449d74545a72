import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { importFiles } from '../../src/catalogue/import/import.js'
import { kinds } from '../../src/catalogue/import/kinds.js'
import { listImports } from '../../src/catalogue/sql/imports.js'
import { listDifferences } from '../../src/money/sql/books-check.js'
import { exported, fillWithTemplates, importAndUndo, importing, takeBack } from '../support/catalogue/import-undo.js'
import { forkStripped, transpileProgram } from '../support/commands/cli.js'
import { publishedBytes } from '../support/release/published-bytes.js'
import { testPublisher } from '../support/release/publishing.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { record, seeded } from './support/record.js'
import { scale, scaled } from './support/scale.js'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder()
})

it('imports of all kinds and taking them back, in random order, leave the store as it was', async () => {
  const { store } = await testDatabase()
  await fillWithTemplates(store, folder)
  const publisher = await testPublisher(store)
  await publisher.publish()
  const files = await publishedBytes(publisher.feedsDir)
  const before = await exported(store)
  const first = Math.floor(seeded('import and undo')() * 2 ** 30)
  const sequences = scaled(200)
  for (let seed = first; seed < first + sequences; seed++) {
    await importAndUndo(store, folder, seed, 14)
    expect(await exported(store), `seed ${seed}`).toEqual(before)
    if (seed % 20 > 0) continue
    await publisher.publish()
    expect(await publishedBytes(publisher.feedsDir), `seed ${seed}`).toEqual(files)
  }
  record({ name: 'import, undo, in any order', engine: '-', tried: sequences, outcome: 'the same export' })
}, 1_800_000)

it('imports of all kinds and undos that are killed at any moment are taken back whole', async () => {
  const { store, url } = await testDatabase()
  await fillWithTemplates(store, folder)
  const publisher = await testPublisher(store)
  await publisher.publish()
  const before = { store: await exported(store), files: await publishedBytes(publisher.feedsDir) }
  const random = seeded('kills of imports of all kinds')
  const counts = { taken: 0, running: 0 }
  const killed = await temporaryFolder()
  for (let tried = 0; tried < scale.kills; tried++) {
    const seed = Math.floor(random() * 2 ** 30)
    const child = await forkStripped('test/campaign/support/imports-process.ts', [url, killed, `${seed}`])
    await once(child, 'message')
    await sleep(random() * 1_200)
    child.kill('SIGKILL')
    await once(child, 'exit')
    for (const { id, state } of await listImports(store.db, { limit: 1_000 })) {
      if (state === 'undone' || id <= kinds.length) continue
      if (state === 'running') counts.running++
      expect(await takeBack(store, id), `import ${id} of seed ${seed}`).toBe(true)
      counts.taken++
    }
    expect(await exported(store), `seed ${seed}`).toEqual(before.store)
  }
  expect(counts.running).toBeGreaterThan(0)
  await publisher.publish()
  expect(await publishedBytes(publisher.feedsDir)).toEqual(before.files)
  const outcome = `${counts.taken} taken back, ${counts.running} of them half done`
  record({ name: 'imports of all kinds killed', engine: '-', tried: scale.kills, outcome })
}, 1_800_000)

it('an import and its undo that are killed leave nothing half done', async () => {
  const { store, url } = await testDatabase()
  await fillWithTemplates(store, folder)
  const gifts = path.join(folder, 'gifts.csv')
  const rows = Array.from(
    { length: 5_000 },
    (_, at) => `${101 + (at % 2)},2024-0${1 + (at % 9)}-1${at % 9},5.00,USD,K-${at}`,
  )
  await writeFile(gifts, ['project,date,amount,currency,reference', ...rows, ''].join('\n'))
  const before = await exported(store)
  const random = seeded('kills of imports')
  const program = path.join(await transpileProgram(), 'src/cli.js')
  const killed = async (args: readonly string[], afterMs: number): Promise<boolean> => {
    const env = { ...process.env, DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    const child = spawn(process.execPath, [program, ...args], { env, stdio: 'ignore' })
    const ended = once(child, 'exit')
    await Promise.race([ended, sleep(afterMs)])
    const isKilled = child.kill('SIGKILL')
    await ended
    return isKilled
  }
  let halves = 0
  for (let tried = 0; tried < scale.kills; tried++) {
    await killed(['import', gifts], 700 + random() * 3_000)
    const [last] = await listImports(store.db, { limit: 1 })
    // On a slow machine it may not even have begun.
    if (!last || last.id <= kinds.length || last.state === 'undone') continue
    if (last.state === 'running') halves++
    await killed(['imports', 'undo', `${last.id}`], 400 + random() * 1_500)
    const [now] = await listImports(store.db, { limit: 1 })
    if (now?.state !== 'undone') expect(await takeBack(store, last.id)).toBe(true)
    expect(await exported(store), `try ${tried}`).toEqual(before)
  }
  expect(halves).toBeGreaterThan(0)
  // Nothing of the killed imports is known any more.
  expect(await importFiles(store, [gifts], importing)).toMatchObject({ records: 5_000, unchanged: 0 })
  expect(await store.snapshot((db) => listDifferences(db, 3))).toEqual([])
  record({ name: 'imports killed', engine: '-', tried: scale.kills, outcome: `${halves} halves taken back` })
}, 1_800_000)
