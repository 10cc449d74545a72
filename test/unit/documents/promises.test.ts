import { expect, it } from 'vitest'
import { readProjectFile } from '../../support/markdown-table.js'
import { missingTests } from '../../support/named-tests.js'

const [, wire = '', iati = '', security = ''] = readProjectFile('test/promises.md').split('\n## ')
const promised: readonly [string, string, string, RegExp][] = [
  ['docs/contract/wire.md', wire, 'clauses', /^\*\*(\d+\.\d+) /gm],
  ['docs/contract/iati.md', iati, 'clauses', /^(?:- )?\*\*(\d+\.\d+)(?: |\*\*)/gm],
  ['docs/explanation/security.md', security, 'promises', /\*\*([^*]+)\*\*/g],
]

it.each(promised)('test/promises.md has %s, each with tests that exist', (document, table, _what, pattern) => {
  const wanted = [...readProjectFile(document).matchAll(pattern)].map(([, name = '']) => name.replaceAll('\n', ' '))
  const rows = [...table.matchAll(/^\| (?!Clause|Promise|---)(.+?) \| (.+) \|$/gm)]
  expect(rows.map(([, name]) => name)).toEqual(wanted)
  const missing = rows.flatMap(([, name = '', tests = '']) => missingTests(tests).map((what) => `${name}: ${what}`))
  expect(missing).toEqual([])
})
