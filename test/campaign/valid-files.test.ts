import { expect, it } from 'vitest'
import { importFiles } from '../../src/catalogue/import/import.js'
import { seed } from '../../src/demo/sql/seed.js'
import { createXsdValidator, validateFile } from '../../src/iati/validation/index.js'
import { isoDateOf, isoInstantOf } from '../../src/kernel/dates.js'
import { pathOnDisk } from '../support/release/path-on-disk.js'
import { testPublisher } from '../support/release/publishing.js'
import { testDatabase } from '../support/store/database.js'
import { officialStandard, realRecords } from '../support/values/borrowed-files.js'
import { day, mappingConfig } from '../support/values/builders.js'

const samples = realRecords('50 real records')
const standard = officialStandard('the official schema over 10,000 seeded projects')

it('publishes 10,000 seeded projects and the real records without an error or a warning in any file', async () => {
  const { store } = await testDatabase()
  const { currency, baseUrl } = mappingConfig
  const publisher = await testPublisher(store)
  await seed(store, {
    projects: 10_000,
    source: 'local',
    firstId: 1_000_001,
    today: day('2026-11-20'),
    currency,
    baseUrl,
  })
  if (samples) await importFiles(store, [samples], { source: 'import', clock: () => publisher.now, currency })
  const run = await publisher.publish()
  expect([run.state, run.held]).toEqual(['published', 0])

  const xsd = standard ? await createXsdValidator(standard) : undefined
  const context = {
    today: isoDateOf(publisher.now),
    now: isoInstantOf(publisher.now),
    reportingOrgRef: mappingConfig.reportingOrg.ref,
  }
  const release = await publisher.live()
  let activities = 0
  for (const { path: address, records } of release.manifest.files) {
    if (!/^\/iati\/[a-z]+(-\d+)?\.xml$/.test(address)) continue
    const file = await release.find(address)
    const report = await validateFile(await pathOnDisk(file?.identity), { context, ...(xsd && { xsd }) })
    const { errors, warnings } = report.summary
    expect([address, report.complete, report.records, errors, warnings]).toEqual([address, true, records, 0, 0])
    if (address.startsWith('/iati/activities')) activities += report.records
  }
  xsd?.dispose()
  expect(activities).toBe(10_000 + (samples ? 50 : 0))
})
