import { afterAll, describe, expect, it } from 'vitest'
import type { SimpleType } from '../../../../src/iati/standard/index.js'
import { createXsdValidator } from '../../../../src/iati/validation/index.js'
import { isOfType } from '../../../../src/iati/validation/simple-types.js'
import type { Element } from '../../../../src/kernel/xml/element.js'
import { anActivity, replaced, withAttributes } from '../../../support/iati/iati-records.js'
import { officialVerdict, testSchemaAgreement } from '../../../support/iati/schema-agreement.js'
import { badValues, goodValues } from '../../../support/iati/schema-mutants.js'
import { officialStandard } from '../../../support/values/borrowed-files.js'

const official = officialStandard('comparing structure checks with the official XSD')
const xsd = official ? await createXsdValidator(official) : undefined
afterAll(() => xsd?.dispose())

// 1,440 records; the campaign has many more.
testSchemaAgreement(xsd, { sound: 100, perMutation: 52 })

describe.skipIf(!xsd)('our simple types and the official schema agree', () => {
  const attribute = (path: string, name: string) => (text: string) =>
    replaced(anActivity(), path, (found) => withAttributes(found, { [name]: text }))
  const record = (name: string) => (text: string) => withAttributes(anActivity(), { [name]: text })
  const places: Partial<Record<SimpleType, (text: string) => Element>> = {
    date: attribute('activity-date', 'iso-date'),
    decimal: attribute('recipient-country', 'percentage'),
    anyURI: attribute('document-link', 'url'),
    dateTime: record('last-updated-datetime'),
    boolean: record('humanitarian'),
    int: record('hierarchy'),
    language: record('xml:lang'),
  }

  it.each(Object.entries(places))('about %s', (type, place) => {
    const texts = [...badValues, ...Object.values(goodValues).flat()]
    const disagreements = texts.filter(
      (text) =>
        isOfType(type as SimpleType, text) !== (xsd && officialVerdict(xsd, 'activity', place(text)).length === 0),
    )
    expect(disagreements).toEqual([])
  })
})
