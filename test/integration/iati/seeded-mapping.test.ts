import { describe, expect, it } from 'vitest'
import { projectGraphs } from '../../../src/catalogue/sql/project-graphs.js'
import { seed } from '../../../src/demo/sql/seed.js'
import { newIdentifier, toActivity } from '../../../src/iati/mapping/activity.js'
import { createXsdValidator, validateActivity } from '../../../src/iati/validation/index.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { proveShapes } from '../../support/iati/shape-mutants.js'
import { testDatabase } from '../../support/store/database.js'
import { officialStandard } from '../../support/values/borrowed-files.js'
import { day, mappingConfig } from '../../support/values/builders.js'

const today = day('2026-11-21')
const projects = 500
const standard = officialStandard('the official schema over seeded activities')

const { store } = await testDatabase()
const { currency, baseUrl } = mappingConfig
await seed(store, { projects, source: 'local', firstId: 1, today, currency, baseUrl })
const graphs = await projectGraphs(
  store.db,
  Array.from({ length: projects }, (_, index) => index + 1),
)
const activities = graphs.map((graph) => {
  const { element, notices } = toActivity(graph, mappingConfig, today, newIdentifier(mappingConfig, graph.project))
  const checks = { today, reportingOrgRef: mappingConfig.reportingOrg.ref }
  const found = [...notices, ...validateActivity(element, checks)].filter(({ severity }) => severity !== 'info')
  return { element, codes: found.map(({ code, path, detail }) => `${code} ${path} ${detail}`) }
})

describe('what the seed makes', () => {
  it('maps to activities in which our checks find neither error nor warning', () => {
    expect(activities).toHaveLength(projects)
    expect(activities.flatMap(({ codes }) => codes)).toEqual([])
  })

  it('uses every element that the mapping writes', () => {
    const children = new Set(activities.flatMap(({ element }) => element.children.map(({ name }) => name)))
    expect([...children].sort()).toEqual(
      [
        ...['iati-identifier', 'reporting-org', 'title', 'description', 'participating-org', 'other-identifier'],
        ...['activity-status', 'activity-date', 'contact-info', 'activity-scope', 'recipient-country', 'location'],
        ...['sector', 'tag', 'humanitarian-scope', 'default-flow-type', 'default-finance-type', 'default-aid-type'],
        ...['default-tied-status', 'budget', 'planned-disbursement', 'transaction', 'document-link', 'result'],
      ].sort(),
    )
    const all = activities.map(({ element }) => writeElement(element)).join('\n')
    for (const text of ['budget-not-provided="3"', '<budget type="2"', '<activity-scope code="8"/>']) {
      expect(all).toContain(text)
    }
    expect(all).not.toContain('.webp')
  })

  it.skipIf(!standard)('is accepted by the official schema, every byte', async () => {
    const xsd = await createXsdValidator(standard ?? '')
    const texts = activities.map(({ element }) => writeElement(element))
    expect(xsd?.validate(texts, 'activity').flat()).toEqual([])
    xsd?.dispose()
  })

  it.skipIf(!standard)('is not refused by it where shapes and values are sound, however it is changed', async () => {
    const xsd = await createXsdValidator(standard ?? '')
    const elements = activities.slice(0, 100).map(({ element }) => element)
    const { passed, refused } = proveShapes(xsd, elements, 300)
    expect(passed).toBeGreaterThan(80)
    expect(refused).toBeGreaterThan(80)
    xsd?.dispose()
  })

  it('maps to the same text again', () => {
    for (const [index, graph] of graphs.entries()) {
      const { element } = toActivity(graph, mappingConfig, today, newIdentifier(mappingConfig, graph.project))
      const again = activities[index]
      expect(again && writeElement(again.element)).toBe(writeElement(element))
    }
  })
})
