import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  codeList,
  codeName,
  elementRule,
  isActiveCode,
  standardOrigin,
  standardVersion,
} from '../../../../src/iati/standard/index.js'
import { readProjectFile } from '../../../support/documents/markdown-table.js'
import { extractStandard } from '../../../support/iati/standard/extract.js'
import { officialStandard } from '../../../support/values/borrowed-files.js'

describe('the rule of an element', () => {
  it('has its children in order, with how often they may occur', () => {
    const budget = elementRule('/iati-activities/iati-activity/budget')
    expect(budget?.slots.map(({ name, least, most }) => [name, least, most])).toEqual([
      ['period-start', 1, 1],
      ['period-end', 1, 1],
      ['value', 1, 1],
      ['*', 0, Number.POSITIVE_INFINITY],
    ])
    expect(budget?.slotOf.get('value')?.rule.content).toBe('decimal')
  })

  it('has its attributes with their types, and those it must have', () => {
    const date = elementRule('/iati-activities/iati-activity/activity-date')
    expect([...(date?.attributes ?? [])]).toEqual([
      ['type', 'string'],
      ['iso-date', 'date'],
    ])
    expect(date?.required).toEqual(['type', 'iso-date'])
  })

  it('has its code lists with their conditions', () => {
    const sector = elementRule('/iati-activities/iati-activity/transaction/sector')
    expect(sector?.codes.map(({ attribute, list }) => `${attribute} ${list.name}`)).toEqual([
      'code Sector',
      'code SectorCategory',
      'code UNSDG-Goals',
      'code UNSDG-Targets',
      'vocabulary SectorVocabulary',
      'xml:lang Language',
    ])
    expect(sector?.codes[0]?.condition).toEqual({ attribute: 'vocabulary', equals: '1', orAbsent: true })
  })

  it('is different where one name stands at two places', () => {
    const link = (path: string) => elementRule(path)?.slotOf.has('recipient-country')
    expect(link('/iati-organisations/iati-organisation/document-link')).toBe(true)
    expect(link('/iati-activities/iati-activity/document-link')).toBe(false)
  })

  it('is undefined for what the standard does not know', () => {
    expect(elementRule('/iati-activities/iati-activity/donor')).toBeUndefined()
    expect(elementRule('/projects')).toBeUndefined()
  })
})

describe('a code', () => {
  it('is active, withdrawn or unknown', () => {
    expect(isActiveCode('Sector', '14031')).toBe(true)
    expect(isActiveCode('Sector', '74010')).toBe(false)
    expect(codeName('Sector', '74010')).toMatch(/disaster/i)
    expect(isActiveCode('Sector', '00000')).toBe(false)
    expect(codeName('Sector', '00000')).toBeUndefined()
    expect(isActiveCode('Country', 'constructor')).toBe(false)
  })

  it('belongs to a list that says whether it is complete', () => {
    expect(codeList('Sector').complete).toBe(true)
    expect(codeList('Language').complete).toBe(false)
    expect(() => codeList('Nonsense')).toThrow('Nonsense')
  })
})

it('NOTICE names version, licence and every commit that the data was taken from', () => {
  const notice = readProjectFile('NOTICE')
  expect(notice).toContain(`version ${standardVersion}`)
  for (const { commit, repository, licence } of standardOrigin.sources) {
    expect(notice).toContain(commit)
    expect(notice).toContain(repository)
    expect(notice).toContain(licence)
  }
})

const official = officialStandard('comparing src/iati/standard/data with the official files')

describe.skipIf(!official)('the committed data', () => {
  const extracted = official ? extractStandard(official) : {}

  it.each(['structure.json', 'mapping.json', 'codelists.json', 'origin.json'])(
    '%s is what the official files give',
    (name) => {
      const committed = readFileSync(new URL(`../../../../src/iati/standard/data/${name}`, import.meta.url), 'utf8')
      expect(extracted[name] === committed, 'run npm run standard:extract -- DIR and commit the difference').toBe(true)
    },
  )
})
