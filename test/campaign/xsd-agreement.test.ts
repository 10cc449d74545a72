import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { importFiles } from '../../src/catalogue/import/import.js'
import { projectGraphs } from '../../src/catalogue/sql/project-graphs.js'
import { seed } from '../../src/demo/sql/seed.js'
import { newIdentifier, toActivity } from '../../src/iati/mapping/activity.js'
import { createXsdValidator } from '../../src/iati/validation/index.js'
import type { Element } from '../../src/kernel/xml/element.js'
import { anActivity } from '../support/iati/iati-records.js'
import { testSchemaAgreement } from '../support/iati/schema-agreement.js'
import { records } from '../support/iati/schema-mutants.js'
import { comparedTypes, proveShapes, proveType } from '../support/iati/shape-mutants.js'
import { testDatabase } from '../support/store/database.js'
import { officialStandard, realRecords } from '../support/values/borrowed-files.js'
import { day, mappingConfig } from '../support/values/builders.js'

const official = officialStandard('the campaign that compares structure checks with the official XSD')
const xsd = official ? await createXsdValidator(official) : undefined
afterAll(() => xsd?.dispose())
const samples = realRecords('mutants of 50 real records')

// 28,800 records.
testSchemaAgreement(xsd, { sound: 2400, perMutation: 1000 })

/** Activities of 300 seeded projects and the real ones. */
async function mappedActivities(): Promise<Element[]> {
  const { store } = await testDatabase()
  const [today, { currency, baseUrl }] = [day('2026-11-20'), mappingConfig]
  await seed(store, { projects: 300, months: 6, source: 'local', firstId: 1_000_001, today, currency, baseUrl })
  if (samples) await importFiles(store, [samples], { source: 'import', clock: () => new Date(today), currency })
  const { rows } = await store.db.query<{ id: number }>('select id from project order by id')
  const graphs = await projectGraphs(
    store.db,
    rows.map(({ id }) => id),
  )
  return graphs.map(
    (graph) => toActivity(graph, mappingConfig, today, newIdentifier(mappingConfig, graph.project)).element,
  )
}

describe.skipIf(!xsd)('the official schema does not refuse', () => {
  it.each(comparedTypes)('a value of %s that we take as ordinary, of 50,000 odd texts', (type) => {
    const { refused, ordinary } = proveType(xsd, type, 50_000, 2)
    expect(refused).toEqual([])
    expect(ordinary).toBeGreaterThan(5_000)
  })

  // 100,000 mutants.
  it.each([1, 2])('an activity of shapes that it accepted, of 25,000 random ones that were changed (%d)', (number) => {
    const activities = [anActivity(), ...fc.sample(records('activity'), { numRuns: 300, seed: number })]
    const { passed, refused } = proveShapes(xsd, activities, 25_000, number)
    expect(passed).toBeGreaterThan(2_500)
    expect(refused).toBeGreaterThan(2_500)
  })

  it.each([3, 4])(
    'an activity of shapes that it accepted, of 25,000 mapped ones that were changed (%d)',
    async (number) => {
      const { passed, refused } = proveShapes(xsd, await mappedActivities(), 25_000, number)
      expect(passed).toBeGreaterThan(2_500)
      expect(refused).toBeGreaterThan(2_500)
    },
  )
})
