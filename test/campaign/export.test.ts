import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { publishedTwice } from '../support/catalogue/export-proof.js'
import { newInstallation } from '../support/commands/cli.js'
import { testDatabase } from '../support/store/database.js'
import { seedProjects } from '../support/store/seeded.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { printsPeak } from './support/print-peak.js'
import { record } from './support/record.js'
import { scale } from './support/scale.js'

const mostKilobytes = 256 * 1024

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder()
})

it('a store of 2,000 seeded projects, real and mirrored ones is published from its export with the same bytes', async () => {
  const { ours, theirs } = await publishedTwice(2_000, path.join(folder, 'proof'))
  expect(theirs).toEqual(ours)
  expect(Object.keys(theirs.files)).toContain('/iati/activities-2.xml')
  const files = Object.keys(theirs.files).length
  record({ name: 'export, import, publish', engine: '-', tried: 2_000, outcome: `${files} files with the same bytes` })
})

async function measured(url: string, args: readonly string[]): Promise<{ peak: number; seconds: number }> {
  const installation = await newInstallation({ NODE_OPTIONS: printsPeak, DATABASE_URL: url })
  try {
    const started = performance.now()
    const { code, stderr } = await installation.run([...args, '--json'])
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const [peak, seconds] = [Number(/peak=(\d+)/.exec(stderr)?.[1]), (performance.now() - started) / 1000]
    console.log(`giving ${args[0]}: ${seconds.toFixed(1)} s, peak ${Math.round(peak / 1024)} MiB`)
    return { peak, seconds }
  } finally {
    await installation.remove()
  }
}

it(`${scale.exportedProjects} projects are exported and imported, each within 256 MiB`, async () => {
  const { store, url } = await testDatabase()
  await seedProjects(store, scale.exportedProjects)
  const directory = path.join(folder, 'large')
  const written = await measured(url, ['export', directory])
  const other = await testDatabase()
  const read = await measured(other.url, ['import', directory])
  const count = 'select count(*) as count from project'
  expect((await other.store.db.query(count)).rows).toEqual([{ count: scale.exportedProjects }])
  const described = ({ peak, seconds }: typeof read) =>
    `${seconds.toFixed(0)} s, at most ${Math.round(peak / 1024)} MiB`
  record({
    ...{ name: 'projects exported and imported', engine: '-', tried: scale.exportedProjects },
    outcome: `export ${described(written)}; import ${described(read)}`,
  })
  for (const { peak } of [written, read]) expect(peak).toBeLessThan(mostKilobytes)
}, 3_600_000)
