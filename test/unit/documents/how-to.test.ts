import { cpSync, existsSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { applyHowTo, projectRoot, readHowTos } from '../../support/documents/how-to.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

// How many files a change may touch; golden files, migrations and the dump of the schema come on top.
const limits: Readonly<Record<string, number>> = {
  'api-operation': 5,
  column: 1,
  'iati-element': 3,
  job: 2,
  'validation-rule': 3,
}
const notCounted = /^(?:test\/golden\/|test\/support\/schema\/schema\.sql$|src\/platform\/database\/migrations\/)/

const pages = readHowTos()

it.each(pages.map((page) => [page.name, page] as const))('the page %s lists what its change touches', (name, page) => {
  expect([...page.files].sort()).toEqual([...page.touched].sort())
  expect(page.touched.filter((file) => !notCounted.test(file)).length).toBeLessThanOrEqual(limits[name] ?? 0)
})

it('the changes of all pages apply to the sources, one after the other', async () => {
  const folder = await temporaryFolder()
  for (const file of new Set(pages.flatMap(({ touched }) => touched))) {
    const source = path.join(projectRoot, file)
    if (existsSync(source)) cpSync(source, path.join(folder, file))
  }
  expect(pages.map((page) => applyHowTo(page, folder)).filter((problem) => problem !== '')).toEqual([])
})
