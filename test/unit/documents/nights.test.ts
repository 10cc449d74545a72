import { expect, it } from 'vitest'
import { readProjectFile, readTable } from '../../support/documents/markdown-table.js'
import { nightlySteps, nightsDocument, withNight } from '../../support/runner/nights.js'

const committed = readProjectFile(nightsDocument)
const { version } = JSON.parse(readProjectFile('package.json')) as { version: string }

// As .ci/nightly writes it.
const page = `# Night of 2026-11-21

Commit 1a2b3c4 of version 1.0.0, 2 cores (A Processor), 16000000 kB of memory, Node v24.1.0, load 0.40 when it began.

| Step | Command | Outcome | Minutes |
|---|---|---|---:|
| soak | \`npm run test:soak -- --hours 1\` | passed | 61 |
| bench | \`npm run bench\` | FAILED | 20 |

## soak
`
const machine = '2 cores (A Processor), 16000000 kB of memory, Node v24.1.0, load 0.40'

it('the table of nights has a row for each step of .ci/nightly, and says which figures are older than the minor release', () => {
  expect(nightlySteps().length).toBeGreaterThan(5)
  expect(committed).toBe(withNight(committed, version))
})

it('a night writes the rows of its steps, and those of an earlier minor release say so from then on', () => {
  const first = withNight(committed, '1.0.0', page)
  const rowOf = (document: string, step: string) => readTable(document, '| Step |').find(([name]) => name === step)
  expect(rowOf(first, 'soak')).toEqual(['soak', '2026-11-21', '1.0.0', '1a2b3c4', machine, 'passed', '61'])
  expect(rowOf(first, 'bench')?.at(-2)).toBe('FAILED')
  expect(rowOf(first, 'nodes')).toEqual(rowOf(committed, 'nodes'))
  expect(rowOf(withNight(first, '1.0.7'), 'soak')?.[2]).toBe('1.0.0')
  const later = withNight(first, '1.1.0')
  expect(rowOf(later, 'soak')?.[2]).toBe('1.0.0, older than 1.1')
  const again = page.replace('of version 1.0.0', 'of version 1.1.0').replaceAll('2026-11-21', '2026-12-24')
  expect(rowOf(withNight(later, '1.1.0', again), 'soak')?.slice(1, 3)).toEqual(['2026-12-24', '1.1.0'])
})

it('files of the campaign that ran alike share a row, and each has its last run alone', () => {
  const partsOf = (document: string) => readTable(document, '| Parts of the campaign')
  const files = (outcome: string) => `
## Files of campaign

| Part | Outcome | Minutes | Scale |
|---|---|---:|---:|
| nginx | ${outcome} | 1.2 | 0.2 |
| landing/rows | passed | 0.4 | 0.2 |
`
  const empty = committed.slice(0, committed.lastIndexOf('---|\n') + 5)
  const first = withNight(empty, '1.0.0', page + files('FAILED'))
  const ran = ['2026-11-21', '1.0.0', '1a2b3c4', '0.2']
  expect(partsOf(first)).toEqual([
    ['landing/rows 0.4', ...ran, 'passed'],
    ['nginx 1.2', ...ran, 'FAILED'],
  ])
  const mended = withNight(first, '1.0.0', page + files('passed'))
  expect(partsOf(mended)).toEqual([['landing/rows 0.4, nginx 1.2', ...ran, 'passed']])
  expect(partsOf(withNight(mended, '1.1.0'))[0]?.[2]).toBe('1.0.0, older than 1.1')
})
