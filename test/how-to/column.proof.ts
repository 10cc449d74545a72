import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { importFiles } from '../../src/catalogue/import/import.js'
import type { CurrencyCode } from '../../src/kernel/money.js'
import { testApi } from '../support/api/api.js'
import { testPublisher } from '../support/release/publishing.js'
import { testDatabase } from '../support/store/database.js'

it('the column is imported, answered by the API and published in IATI', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'giving-column-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'projects.json')
  const project = { id: 7, active: true, status: 'active', title: 'Wells', funding: 0, beneficiaries: '900 people' }
  await writeFile(file, JSON.stringify({ projects: { project: [project] } }))

  const { store } = await testDatabase()
  const clock = () => new Date('2026-11-20T09:00:00Z')
  await importFiles(store, [file], { source: 'import', clock, currency: 'USD' as CurrencyCode })

  const { app, apiKey } = await testApi(store)
  const answer = await app.inject(`/api/public/projectservice/projects/7.json?api_key=${apiKey}`)
  expect(answer.json()).toMatchObject({ project: { beneficiaries: '900 people' } })

  const publisher = await testPublisher(store)
  await publisher.publish()
  expect(await publisher.read('/iati/activities.xml')).toContain(
    '<description type="3"><narrative>900 people</narrative></description>',
  )
})
