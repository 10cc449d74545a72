import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parquetMetadata } from 'hyparquet'
import { expect, it } from 'vitest'
import { forkStripped } from '../../support/commands/cli.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { seedProjects } from '../../support/store/seeded.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** Each file of the first release of seeded projects, made by a process of its own. */
async function firstRelease(projects: number): Promise<ReadonlyMap<string, Buffer>> {
  const { url, store } = await testDatabase()
  await seedProjects(store, projects, new Date('2026-11-21T00:00:00Z'))
  const feedsDir = await temporaryFolder()
  const [code] = await once(await forkStripped('test/support/processes/build-process.ts', [url, feedsDir]), 'exit')
  expect(code).toBe(0)
  const files = await readdir(path.join(feedsDir, 'current/'), { recursive: true, withFileTypes: true })
  const names = files.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(
      names
        .sort()
        .map(async (name) => [path.relative(path.join(feedsDir, 'current'), name), await readFile(name)] as const),
    ),
  )
}

it('builds the same release from the same database, byte for byte, in another process', async () => {
  const [one, other] = [await firstRelease(60), await firstRelease(60)]
  expect([...other.keys()]).toEqual([...one.keys()])
  expect([...one].filter(([name, bytes]) => !other.get(name)?.equals(bytes)).map(([name]) => name)).toEqual([])
})

it('ends row groups of a table at the same rows beside other tables and alone', async () => {
  const { store } = await testDatabase()
  await seedProjects(store, 60, new Date('2026-11-21T00:00:00Z'))
  // More than a row group holds.
  await store.db.query(`update project set summary = repeat(title || ' ', 75000 / (length(title) + 1))`)
  const publisher = await testPublisher(store)
  const groups = async () => {
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    const bytes = await readFile(path.join(publisher.feedsDir, 'current/data/activities.parquet.part-1'))
    return parquetMetadata(new Uint8Array(bytes).buffer).row_groups.map(({ num_rows }) => Number(num_rows))
  }
  const first = await groups()
  expect(first.length).toBeGreaterThan(1)
  // Nothing but the table of activities is written, with as many bytes.
  await store.db.query(`update project set title = 'X' || substr(title, 2) where id = 3`)
  publisher.now = new Date(publisher.now.getTime() + 86_400_000)
  expect(await groups()).toEqual(first)
})
