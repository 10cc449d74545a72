import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { testApi } from '../support/api/api.js'
import { runCommandLine } from '../support/commands/command-line.js'
import { testPublisher } from '../support/release/publishing.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'

it('the field is imported, stored, answered, exported, published, read back and taken back', async () => {
  const folder = await temporaryFolder()
  const { store, url } = await testDatabase()
  const giving = async (database: string, ...line: readonly string[]) => {
    const environment = { DATABASE_URL: database, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }
    const ended = await runCommandLine(line, environment)
    expect(ended, line.join(' ')).toMatchObject({ code: 0 })
    return ended.stdout
  }
  const importing = async (name: string, text: string) => {
    const file = path.join(folder, name)
    await writeFile(file, text)
    return JSON.parse(await giving(url, 'import', file, '--kind', 'projects', '--json')) as object
  }
  const stored = async (database = store) => (await database.db.query('select id, beneficiaries from project')).rows

  expect((await giving(url, 'import', '--template', 'projects')).split('\n', 1)[0]).toContain(
    ',activities,beneficiaries,',
  )
  const least = 'id,title,status,beneficiaries\n7,Wells,active,'
  expect(await importing('first.csv', `${least}900 people\n`)).toMatchObject({ created: 1 })
  expect(await stored()).toEqual([{ id: 7, beneficiaries: '900 people' }])

  const { app, apiKey } = await testApi(store)
  const address = '/api/public/projectservice/projects/7'
  const answer = (await app.inject(`${address}.json?api_key=${apiKey}`)).json<{ project: object }>()
  expect(answer).toMatchObject({ project: { beneficiaries: '900 people' } })
  expect((await app.inject(`${address}?api_key=${apiKey}`)).body).toContain('<beneficiaries>900 people</beneficiaries>')

  const publisher = await testPublisher(store)
  await publisher.publish()
  expect(await publisher.read('/iati/activities.xml')).toContain(
    '<description type="3"><narrative>900 people</narrative></description>',
  )

  const directory = path.join(folder, 'export')
  await giving(url, 'export', directory)
  expect(await readFile(path.join(directory, 'projects.ndjson'), 'utf8')).toContain('"beneficiaries":"900 people"')
  const other = await testDatabase()
  await giving(other.url, 'import', directory)
  expect(await stored(other.store)).toEqual([{ id: 7, beneficiaries: '900 people' }])

  // What the API answers is a record that this service reads too.
  const changed = { project: [{ ...answer.project, beneficiaries: '950 people' }] }
  expect(await importing('wire.json', JSON.stringify({ projects: changed }))).toMatchObject({ changed: 1 })
  expect(await stored()).toEqual([{ id: 7, beneficiaries: '950 people' }])
  expect(await importing('second.csv', `${least}\n`)).toMatchObject({ changed: 1, import: 3 })
  expect(await stored()).toEqual([{ id: 7, beneficiaries: undefined }])
  await giving(url, 'imports', 'undo', '3')
  expect(await stored()).toEqual([{ id: 7, beneficiaries: '950 people' }])
})
