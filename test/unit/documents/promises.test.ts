import { expect, it } from 'vitest'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { promisesOf, unshownPromises } from '../../support/documents/promises.js'

it('test/promises.json names tests that exist, and of each promise one that runs anywhere', () => {
  expect(unshownPromises()).toEqual([])
})

it.each([
  ['wire', 'docs/contract/wire.md', /^\*\*(\d+\.\d+) /gm],
  ['iati', 'docs/contract/iati.md', /^(?:- )?\*\*(\d+\.\d+)(?: |\*\*)/gm],
  ['security', 'docs/explanation/security.md', /\*\*([^*]+)\*\*/g],
])('test/promises.json has each promise of %s in %s', (name, document, pattern) => {
  const promised = [...readProjectFile(document).matchAll(pattern)].map(([, promise = '']) =>
    promise.replaceAll('\n', ' '),
  )
  expect(promised.length).toBeGreaterThan(10)
  expect(promisesOf(name).sort()).toEqual(promised.sort())
})
