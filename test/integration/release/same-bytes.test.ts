import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { forkStripped } from '../../support/commands/cli.js'
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
