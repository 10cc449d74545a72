import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { transpileProgram } from '../support/cli.js'
import { readProjectFile } from '../support/markdown-table.js'
import { temporaryFolder } from '../support/temporary-folder.js'

let program: string
let folder: string

beforeAll(async () => {
  program = await transpileProgram()
  folder = await temporaryFolder()
}, 120_000)

/** The commands of the page, without those of the installation, which this test has made itself. */
function commands(): string {
  return [...readProjectFile('docs/how-to/own-platform.md').matchAll(/```sh\n([\s\S]*?)```/g)]
    .map(([, block = '']) => block)
    .join('\n')
}

it('docs/how-to/own-platform.md: five CSV files become a valid IATI file', { timeout: 300_000 }, () => {
  const { PATH = '', HOME = '' } = process.env
  const script = `set -e\ngiving() { "${process.execPath}" "${path.join(program, 'src/cli.js')}" "$@"; }\n${commands()}`
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH, HOME },
  })
  expect(status, `${stdout}\n${stderr}`).toBe(0)
  expect(stdout).toContain('dry run, 12 records: 12 created, 0 changed, 0 unchanged, 0 refused')
  const file = readFileSync(path.join(folder, 'data/feeds/current/iati/activities.xml'), 'utf8')
  for (const fact of [
    '<iati-identifier>GB-CHC-1164883-101</iati-identifier>',
    '<iati-identifier>GB-CHC-1164883-10000002</iati-identifier>',
    '<narrative>Lira Farmers</narrative>',
    'ref="GB-CHC-202918"',
    'ref="CH-FDJP-CHE000000001"',
    '<narrative>Wells for Tara</narrative>',
    'percentage="60.00"',
    'code="14031"',
    'code="6.1"',
    '>65.00<',
    '>-5.00<',
    '>1000.00<',
    '>900.00<',
    '<pos>7.9647 -11.7383</pos>',
  ])
    expect(file.includes(fact), fact).toBe(true)
})
