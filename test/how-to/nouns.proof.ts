import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { projectGraphs } from '../../src/catalogue/sql/project-graphs.js'
import { testApi } from '../support/api/api.js'
import { runCommandLine } from '../support/commands/command-line.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'

const files = {
  organizations: 'id,name,added\n7,Tara,of an organisation\n',
  projects: 'id,title,status,organization\n1,Wells,active,7\n',
  images: 'project,position,original,added\n1,0,https://a.example/1.jpg,of a picture\n',
  reports: 'url,project,title,published,html,added\nhttps://a.example/1,1,Dug,2025-01-01,<p>Dug.</p>,of a report\n',
  'payout-plans': 'project,date,amount,currency,reference,added\n1,2027-01-01,5,USD,P-1,of a payout\n',
}

it('the field of each noun is imported, selected, answered, exported and taken back', async () => {
  const folder = await temporaryFolder()
  const { store, url } = await testDatabase()
  const giving = async (...line: readonly string[]) => {
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    expect(await runCommandLine(line, environment), line.join(' ')).toMatchObject({ code: 0 })
  }
  const at = (name: string) => path.join(folder, name)
  for (const [kind, text] of Object.entries(files)) await writeFile(at(`${kind}.csv`), text)
  await giving('import', ...Object.keys(files).map((kind) => at(`${kind}.csv`)))
  expect((await projectGraphs(store.db, [1]))[0]).toMatchObject({
    organisation: { added: 'of an organisation' },
    photos: [{ added: 'of a picture' }],
    reports: [{ added: 'of a report' }],
    payoutPlan: [{ added: 'of a payout' }],
  })

  const { app, apiKey } = await testApi(store)
  const answer = await app.inject(`/api/public/orgservice/organization/7.json?api_key=${apiKey}`)
  expect(answer.json()).toMatchObject({ organization: { added: 'of an organisation' } })

  await giving('export', at('export'))
  for (const kind of ['organizations', 'images', 'reports', 'payout-plans']) {
    const [record = '{}'] = (await readFile(at(`export/${kind}.ndjson`), 'utf8')).split('\n')
    expect(JSON.parse(record), kind).toHaveProperty('added')
  }
  await giving('imports', 'undo', '1')
  expect((await store.db.query('select added from progress_report')).rows).toEqual([])
})
