import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { runCommandLine } from '../../support/commands/command-line.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { RegistryServer, registryClient } from '../../support/servers/registry-server.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const page = 'docs/how-to/register.md'

/** Files of the reader of the page. */
const files: Readonly<Record<string, string>> = {
  'registry-secret': registryClient.clientSecret,
  'organizations.csv': 'id,name,orgType,country\n7,Tara Water Trust,22,SL\n',
  'projects.csv':
    'id,title,status,organization,summary,themes,countries,region,goal,approvedDate\n' +
    '101,Wells for Tara,active,7,Four village wells.,Clean Water,SL,Africa,8000.00,2025-01-05\n',
}

it(`${page}: a new publisher is registered by its commands`, async () => {
  const { url } = await testDatabase()
  const folder = await temporaryFolder()
  await using server = await new RegistryServer().listen()
  server.addOrganisation('US-EIN-123456789', 'our-platform', 'editor')
  for (const [name, content] of Object.entries(files)) {
    await writeFile(path.join(folder, name), content, { mode: 0o600 })
  }
  const environment: Record<string, string> = {
    ...{ DATABASE_URL: url, GIVING_DATA_DIR: path.join(folder, 'data'), LOG_LEVEL: 'silent' },
    REGISTRY_TOKEN_URL: server.tokenUrl,
  }
  /** A word of the page as its reader's shell passes it on. */
  const toValue = (word: string) => {
    if (word === 'https://registry.example/api/v1') return server.url
    return word in files || word.startsWith('data/') ? path.join(folder, word) : word.replaceAll("'", '')
  }
  const lines = [...readProjectFile(page).matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  )
  let last = ''
  for (const line of lines) {
    const [, name, value = ''] = /^export (\w+)=(.*)$/.exec(line) ?? []
    if (name !== undefined) {
      environment[name] = toValue(value)
      continue
    }
    const [command, ...args] = line.split(' ')
    expect(command, line).toBe('giving')
    const { code, stdout, stderr } = await runCommandLine(args.map(toValue), environment)
    expect([code, stderr], `${line}\n${stdout}`).toEqual([
      line === 'giving status' ? expect.any(Number) : 0,
      expect.any(String),
    ])
    last = stdout
  }
  expect(last).toMatch(/^registry: +2 registered, 0 missing, 0 different/m)
  expect(server.datasets.map(({ fields }) => [fields.short_name, fields.url, fields.licence_id])).toEqual([
    ['our-platform-activities', 'https://giving.example/iati/activities.xml', 'cc-by'],
    ['our-platform-organisations', 'https://giving.example/iati/organisations.xml', 'cc-by'],
  ])
})
