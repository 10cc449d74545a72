import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../src/catalogue/import/import.js'
import { parseWireDateTime } from '../../../../src/kernel/dates.js'
import type { CurrencyCode } from '../../../../src/kernel/money.js'
import type { Element } from '../../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../../src/kernel/xml/reader.js'
import { testApi } from '../../../support/api/api.js'
import { testDatabase } from '../../../support/store/database.js'
import { realRecords } from '../../../support/values/borrowed-files.js'

const sample = realRecords('the API beside real records') ?? ''

/** The record with what may differ made equal: dates as instants, coordinates to the stored precision. */
function comparable(element: Element): unknown {
  const text = element.text
  const instant = parseWireDateTime(text)
  const value = instant?.toISOString() ?? (/^-?\d+\.\d{5,}$/.test(text) ? Number(text).toFixed(4) : text)
  return [element.name, element.attributes, element.children.length > 0 ? element.children.map(comparable) : value]
}

describe.runIf(sample !== '')('real records', async () => {
  const { store } = await testDatabase()

  it('come out of the API as they went in, element for element, in the order of the original', async () => {
    const { app, apiKey } = await testApi(store)
    const clock = () => new Date('2026-11-21T09:00:00Z')
    await importFiles(store, [sample], { source: 'import', clock, currency: 'USD' as CurrencyCode })
    const originals = parseElement(readFileSync(sample), recordLimits).children.filter(({ name }) => name === 'project')
    const served: Element[] = []
    for (let next: string | undefined = '1'; next !== undefined; ) {
      const answer = await app.inject(`/api/public/projectservice/all/projects?api_key=${apiKey}&nextProjectId=${next}`)
      const page = parseElement(answer.body, recordLimits)
      served.push(...page.children.filter(({ name }) => name === 'project'))
      next = page.children.find(({ name }) => name === 'nextProjectId')?.text
    }
    expect(served.length).toBe(50)
    const byId = (records: Element[]) =>
      new Map(records.map((record) => [record.children.find(({ name }) => name === 'id')?.text, comparable(record)]))
    expect(byId(served)).toEqual(byId(originals))
  })
})
