import { describe, expect, it } from 'vitest'
import type { ParsedValue } from '../../../../src/catalogue/wire/read/parsed-value.js'
import {
  parseImageRecord,
  parseOrganisationRecord,
  parseProjectRecord,
} from '../../../../src/catalogue/wire/read/project-record.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'

const least = { id: '7', active: 'true', status: 'active', title: 'Wells', funding: '12.5' }
const today = '2026-11-23' as IsoDate
const project = (changes: Record<string, ParsedValue>) => parseProjectRecord({ ...least, ...changes }, today)
const recordOf = (changes: Record<string, ParsedValue>) => {
  const reading = project(changes)
  return 'record' in reading ? reading.record : undefined
}

describe('a project record', () => {
  it.each<[Record<string, ParsedValue>, object]>([
    [{ type: 'fund' }, { type: 'fund' }],
    [{ status: ' funded ' }, { status: 'funded' }],
    [{ status: 'retired' }, { status: 'retired' }],
    [{ active: 'false' }, { active: false }],
    [{ numberOfDonations: '3' }, { numberOfDonations: 3 }],
    [
      { latitude: '90', longitude: '-180' },
      { latitude: '90', longitude: '-180' },
    ],
    [{ latitude: '90.1', longitude: '180.1' }, { unknownFields: { latitude: '90.1', longitude: '180.1' } }],
    [{ iso3166CountryCode: ' sl ' }, { countryCode: 'SL', countries: [{ code: 'SL', name: 'SL' }] }],
    [
      { iso3166CountryCode: 'SLE', country: 'Sierra Leone' },
      { countryName: 'Sierra Leone', countries: [] },
    ],
    [
      { iso3166CountryCode: 'KE', countries: { country: { iso3166CountryCode: 'sl', name: 'Sierra Leone' } } },
      { countries: [{ code: 'SL', name: 'Sierra Leone' }] },
    ],
    [
      {
        countries: {
          country: [
            ...['1SL', 'SL1', '', 'ke', 'KE'].map((iso3166CountryCode) => ({ iso3166CountryCode, name: ' ' })),
            { iso3166CountryCode: ['UG'], name: 'Uganda' },
          ],
        },
      },
      { countries: [{ code: 'KE', name: 'KE' }] },
    ],
    [
      { themes: { theme: [{ id: 'a', name: ' ' }, { id: ' ', name: 'b' }, { id: ['c'] }, { id: 'a', name: 'A' }] } },
      { themes: [{ id: 'a', name: 'a' }] },
    ],
    [{ videos: { video: [{ url: 'u' }, { url: '' }, { url: ' ' }, {}] } }, { videos: ['u', ''] }],
    [
      {
        donationOptions: {
          donationOption: [{ amount: '25.00', description: 'tools' }, { amount: '0' }, {}, { amount: '5' }],
        },
      },
      { donationOptions: [{ amount: '25.00', description: 'tools' }, { amount: '5' }] },
    ],
    [
      { countries: { country: ['KE', 'UG'].map((iso3166CountryCode) => ({ iso3166CountryCode })) } },
      { countries: ['KE', 'UG'].map((code) => ({ code, name: code })) },
    ],
    [{ iati: { locationName: 'Bo' } }, { publication: { locationName: 'Bo' } }],
    [
      { organization: { id: '1', name: 'x', totalProjects: '3', activeProjects: 'y' } },
      {
        organisation: {
          ...{ id: 1, name: 'x', statedTotalProjects: 3, themes: [], countries: [] },
          unknownFields: { activeProjects: 'y' },
        },
      },
    ],
  ])('of %j has %j', (changes, expected) => {
    expect(recordOf(changes)).toMatchObject(expected)
  })

  it('has no member for what is absent', () => {
    expect(Object.keys(recordOf({ organization: {}, image: {}, iati: {}, country: '' }) ?? {}).sort()).toEqual(
      Object.keys(recordOf({}) ?? {}).sort(),
    )
    const option = recordOf({ donationOptions: { donationOption: { amount: '5' } } })?.donationOptions[0]
    expect(Object.keys(option ?? {})).toEqual(['amount'])
  })

  it.each<[Record<string, ParsedValue>, object[]]>([
    [{ status: 'open' }, [{ field: 'status', expected: 'active, funded or retired', got: 'open' }]],
    [{ status: null }, [{ field: 'status', expected: 'active, funded or retired', got: 'null' }]],
    [
      { donationOptions: { donationOption: { amount: '5.50' } } },
      [
        {
          field: 'donationOptions/amount',
          expected: 'a whole number, since clients read it as one',
          got: '5.50',
        },
      ],
    ],
    [{ image: 'x' }, [{ field: 'image', expected: 'one object', got: 'x' }]],
    [
      { organization: { id: '1', name: 'x', iati: { type: 'none' } } },
      [
        {
          field: 'organization/iati/type',
          expected: 'a code of the IATI OrganisationType list',
          got: 'none',
        },
      ],
    ],
  ])('of %j is refused for %j', (changes, problems) => {
    expect(project(changes)).toEqual({ problems, recordId: '7' })
  })

  it('is named by the first 40 characters of its id', () => {
    const id = 'x'.repeat(41)
    expect(project({ id })).toMatchObject({ recordId: id.slice(0, 40) })
    for (const none of ['', null, ['7']]) expect(project({ id: none })).not.toHaveProperty('recordId')
  })

  it('is an object', () => {
    expect(parseProjectRecord('', today)).toEqual({ problems: [{ field: 'record', expected: 'a project object' }] })
    expect(parseOrganisationRecord('')).toEqual({ problems: [{ field: 'record', expected: 'an organization object' }] })
    expect(parseProjectRecord(['x'], today)).toMatchObject({
      problems: [{ field: 'record', expected: 'a project object' }],
    })
  })
})

describe('an organisation record', () => {
  it('names its fields as those of a project do', () => {
    expect(parseOrganisationRecord({ id: 'x', name: 'x' })).toEqual({
      problems: [{ field: 'organization/id', expected: 'a whole number above 0', got: 'x' }],
      recordId: 'x',
    })
    expect(parseOrganisationRecord({ id: '1', name: 'x', themes: { theme: { id: 'a' } } })).toMatchObject({
      record: { id: 1, name: 'x', themes: [{ id: 'a', name: 'a' }], countries: [] },
    })
  })
})

describe('the days of a project record', () => {
  it.each<[Record<string, ParsedValue>, string, string, string]>([
    [{ approvedDate: '0001-01-01T00:00:00Z' }, 'approvedDate', 'a time from 1000', ''],
    [{ approvedDate: '1899-12-31T23:59:59Z' }, 'approvedDate', 'a day from 1900-01-01', '1899-12-31'],
    [{ approvedDate: '2086-11-24T00:00:00Z' }, 'approvedDate', 'a day until 2086-11-23', '2086-11-24'],
    [{ modifiedDate: '2026-11-24T00:00:00Z' }, 'modifiedDate', 'a day that is not in the future', '2026-11-24'],
    [
      { dateOfMostRecentReport: '2027-01-01T00:00:00Z' },
      'dateOfMostRecentReport',
      'a day that is not in the future',
      '2027-01-01',
    ],
    [{ iati: { deadline: '1066-10-14' } }, 'iati/deadline', 'a day from 1900-01-01', '1066-10-14'],
    [
      { iati: { payouts: { payout: { day: '2099-01-01', amount: '1', reference: 'p' } } } },
      'iati/payouts/payout/day',
      'a day until 2086-11-23',
      '2099-01-01',
    ],
  ])('that no person would mean refuse it: %j', (changes, field, expected, got) => {
    const reading = project(changes)
    if (got === '') expect('problems' in reading && reading.problems[0]?.field).toBe(field)
    else expect(reading).toEqual({ problems: [{ field, expected, got }], recordId: '7' })
  })

  it('may be plans of the years to come, and today', () => {
    expect(recordOf({ approvedDate: '2086-11-23T00:00:00Z', modifiedDate: '2026-11-23T23:59:59Z' })).toBeDefined()
    expect(recordOf({ iati: { deadline: '9999-12-31' } })).toBeDefined()
  })
})

describe('a picture', () => {
  const link = (size: string, url: ParsedValue) => ({ size, url })

  it.each<[ParsedValue, unknown]>([
    ['x', undefined],
    [{}, undefined],
    [{ imagelink: [link('small', ' '), link('huge', 'h')] }, undefined],
    [{ imagelink: link('small', 's') }, { wireId: 0, renditions: { small: 's' } }],
    [
      {
        id: '5',
        title: 'A well',
        imagelink: [link('original', 'o'), link('small', 's'), link('small', 't'), link('small', '')],
      },
      { wireId: 5, title: 'A well', renditions: { small: 't', original: 'o' } },
    ],
  ])('of %j is %j', (value, expected) => {
    const found = parseImageRecord(value)
    expect(found).toEqual(expected)
    if (found) expect(Object.keys(found)).toEqual(Object.keys(expected as object))
  })
})
