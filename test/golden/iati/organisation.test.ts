import { describe, expect, it } from 'vitest'
import {
  recipientOrgBudget,
  toOrganisation,
  toPartnerOrganisation,
  type YearFigures,
  yearsOfFile,
} from '../../../src/iati/mapping/organisation.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { pretty } from '../../support/iati/pretty-xml.js'
import { validateOrganisation } from '../../support/iati/validate-organisation.js'
import { amount, day, mappingConfig } from '../../support/values/builders.js'

const today = day('2026-11-21')
const checks = { today, reportingOrgRef: mappingConfig.reportingOrg.ref }

function figures(year: number, money: Partial<Omit<YearFigures, 'year'>>): YearFigures {
  return { year, paid: amount('0'), fees: amount('0'), planned: amount('0'), ...money }
}

describe("the publisher's record", () => {
  it('tells the plans of three years, the spending of the last three, and where to read on', async () => {
    const organisation = toOrganisation(
      mappingConfig,
      [
        figures(2023, {}),
        figures(2024, { paid: amount('1000.000'), fees: amount('40.5') }),
        figures(2025, { paid: amount('2000') }),
        figures(2026, { paid: amount('500.25'), planned: amount('99.75'), fees: amount('10') }),
        figures(2027, { planned: amount('1200') }),
        figures(2028, {}),
      ],
      today,
    )
    await expect(pretty(writeElement(organisation))).toMatchFileSnapshot('organisation.xml')
    expect(validateOrganisation(organisation, checks)).toEqual([])
  })

  it('is about six calendar years', () => {
    expect(yearsOfFile(today)).toEqual({ first: 2023, current: 2026, last: 2028 })
  })
})

describe('planned payouts to a partner', () => {
  const planned = { year: 2027, planned: amount('100') }

  it('are a recipient-org-budget of the year', () => {
    const budget = recipientOrgBudget({ name: 'Tara & Co', orgRef: 'GB-CHC-1234567' }, planned, mappingConfig)
    expect(budget && writeElement(budget)).toBe(
      '<recipient-org-budget status="1"><recipient-org ref="GB-CHC-1234567"><narrative>Tara &amp; Co</narrative>' +
        '</recipient-org><period-start iso-date="2027-01-01"/><period-end iso-date="2027-12-31"/>' +
        '<value currency="USD" value-date="2027-01-01">100.00</value></recipient-org-budget>',
    )
  })

  it('are not told of a partner without a real identifier', () => {
    expect(recipientOrgBudget({ name: 'Tara' }, planned, mappingConfig)).toBeUndefined()
    expect(recipientOrgBudget({ name: 'Tara', orgRef: 'XX-NONE-1' }, planned, mappingConfig)).toBeUndefined()
  })
})

describe("a partner's record", () => {
  it('is told by the platform, with its web page', () => {
    const record = toPartnerOrganisation(
      { name: 'Tara Water Trust', ein: '12-3456780', url: 'https://tarawater.example' },
      mappingConfig,
    )
    expect(record && writeElement(record)).toBe(
      '<iati-organisation xml:lang="en" default-currency="USD">' +
        '<organisation-identifier>US-EIN-123456780</organisation-identifier><name><narrative>Tara Water Trust</narrative></name>' +
        '<reporting-org ref="US-EIN-123456789" type="21" secondary-reporter="1"><narrative>Example Giving</narrative></reporting-org>' +
        '<document-link url="https://tarawater.example/" format="text/html"><title><narrative>Tara Water Trust</narrative></title>' +
        '<category code="B16"/></document-link></iati-organisation>',
    )
    expect(record && validateOrganisation(record, checks)).toEqual([])
  })

  it('is left out without an identifier, without a name, and for the platform itself', () => {
    expect(toPartnerOrganisation({ name: 'Tara' }, mappingConfig)).toBeUndefined()
    expect(toPartnerOrganisation({ name: '<p></p>', orgRef: 'GB-CHC-1234567' }, mappingConfig)).toBeUndefined()
    expect(toPartnerOrganisation({ name: 'Us', orgRef: 'US-EIN-123456789' }, mappingConfig)).toBeUndefined()
  })
})
