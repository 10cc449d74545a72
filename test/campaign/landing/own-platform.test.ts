import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { transpileProgram } from '../../support/commands/cli.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

let program: string
let folder: string

beforeAll(async () => {
  program = await transpileProgram()
  folder = await temporaryFolder()
}, 120_000)

/** The commands of a page, without those of the installation, which this test has made itself. */
function commands(page: string): string {
  return [...readProjectFile(page).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block).join('\n')
}

function runPage(page: string, cwd: string, environment: Readonly<Record<string, string>> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const script = `set -e\ngiving() { "${process.execPath}" "${path.join(program, 'src/cli.js')}" "$@"; }\n${commands(page)}`
  return spawnSync('bash', ['-c', script], { cwd, encoding: 'utf8', env: { PATH, HOME, ...environment } })
}

it('docs/how-to/own-platform.md: five CSV files become a valid IATI file', { timeout: 300_000 }, () => {
  const { status, stdout, stderr } = runPage('docs/how-to/own-platform.md', folder)
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

/** As others write them: an earlier version and encoding, empty references, capitals, signs in an identifier, no status. */
const moving = (
  identifier: string,
  title: string,
  more: string,
) => `<iati-activity xml:lang="EN" default-currency="USD">
  <iati-identifier>${identifier}</iati-identifier>
  <reporting-org ref="GB-CHC-1164883" type="22" secondary-reporter="1"><narrative>Giving Lakes</narrative></reporting-org>
  <title><narrative/><narrative>${title}</narrative></title>
  <description type="1"><narrative>As it was published.</narrative></description>
  <participating-org ref="" role="4" type="22"><narrative>Tara Water Trust</narrative></participating-org>
  ${more}
  <activity-date type="2" iso-date="2020-01-01"/>
  <recipient-country code="SL"/>
  <sector vocabulary="1" code="14031"/>
  <policy-marker vocabulary="1" code="1" significance="1"/>
  <transaction ref="T-1"><transaction-type code="3"/><transaction-date iso-date="2021-05-01"/>
    <value value-date="2021-05-01">55.00</value><finance-type code="410"/></transaction>
</iati-activity>`
const published = `<?xml version="1.0" encoding="ISO-8859-1"?>
<iati-activities version="2.02">
${moving('GB-CHC-1164883-WELLS', 'Wells for Tara', '<activity-status code="2"/>')}
${moving('GB-CHC-999999-A/1', '\u00c9cole', '<activity-status code="4"/>')}
${moving('GB-CHC-1164883-HELD', 'No status', '')}
</iati-activities>`

const publishedOrganisation = `<iati-organisations version="2.03"><iati-organisation>
  <organisation-identifier>GB-CHC-1164883</organisation-identifier><name><narrative xml:lang="en">Giving Lakes</narrative></name>
  <reporting-org ref="GB-CHC-1164883" type="22"><narrative xml:lang="en">Giving Lakes</narrative></reporting-org>
  <total-expenditure><period-start iso-date="2024-01-01"/><period-end iso-date="2024-12-31"/>
    <value currency="USD" value-date="2024-01-01">7700.00</value></total-expenditure>
</iati-organisation></iati-organisations>`

it('docs/how-to/move-from-another-publisher.md: identifiers and history stay', { timeout: 300_000 }, async () => {
  const cwd = path.join(folder, 'moved')
  await mkdir(cwd)
  await writeFile(path.join(cwd, 'old-activities.xml'), published, 'latin1')
  await writeFile(path.join(cwd, 'old-organisation.xml'), publishedOrganisation)
  // Each command would start the built-in database, which the first page makes with its first one.
  const { url } = await testDatabase()
  const { status, stdout, stderr } = runPage('docs/how-to/move-from-another-publisher.md', cwd, { DATABASE_URL: url })
  expect(status, `${stdout}\n${stderr}`).toBe(0)
  expect(stderr).toMatch(
    /policy-marker: 2 kept as they are, 1 held\n.*activities: 2 publishable, 1 held.*old-activities\.xml:31: error element-missing/s,
  )
  const file = readFileSync(path.join(cwd, 'data/feeds/current/iati/activities.xml'), 'utf8')
  for (const fact of [
    'GB-CHC-1164883-WELLS<',
    'GB-CHC-999999-A/1<',
    '<narrative>\u00c9cole<',
    'secondary-reporter="1"',
    '<participating-org role="4"',
    'policy-marker',
    '>55.00<',
    'Four village wells',
    '>25.00<',
    'code="14031"',
  ]) {
    expect(file.includes(fact), fact).toBe(true)
  }
  expect(file.match(/As it was published\./g)).toHaveLength(1)
  expect(file).not.toContain('GB-CHC-1164883-HELD')
  expect(readFileSync(path.join(cwd, 'data/feeds/current/iati/organisations.xml'), 'utf8')).toContain('>7700.00<')
})

it('docs/how-to/sources.md: a folder and a complete list are read, held and approved', {
  timeout: 300_000,
}, async () => {
  const cwd = path.join(folder, 'sources')
  await mkdir(cwd)
  // Its commands are many, and each would start the built-in database.
  const { url } = await testDatabase()
  const { status, stdout, stderr } = runPage('docs/how-to/sources.md', cwd, { DATABASE_URL: url })
  expect(status, `${stdout}\n${stderr}`).toBe(0)
  expect(stdout).toMatch(/dry run, spenden-1\.csv: 2 records, 2 created/)
  expect(stdout).toMatch(/source crm-gifts: imported, import \d+: 2 records, 2 created/)
  expect(stdout).toMatch(/source projects: held, projects\.csv would change 0 and end 2 of 3 records/)
  expect(stdout).toMatch(/source projects: imported, import \d+: 1 records, 0 created, 2 changed, 2 of them ended/)
})
