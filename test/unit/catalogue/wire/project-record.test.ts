import { describe, expect, it } from 'vitest'
import { toHashedRecord } from '../../../../src/catalogue/import/hashed-record.js'
import { parseJson } from '../../../../src/catalogue/wire/read/json-reader.js'
import { fromElement, type ParsedValue, valueLimits } from '../../../../src/catalogue/wire/read/parsed-value.js'
import { parseProjectRecord } from '../../../../src/catalogue/wire/read/project-record.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'
import { columnFields, type Noun, wireNameOf } from '../../../../src/kernel/nouns/field.js'
import { organisationFields } from '../../../../src/kernel/nouns/organisation.js'
import { projectFields } from '../../../../src/kernel/nouns/project.js'
import type { ProjectRecord } from '../../../../src/kernel/record.js'
import { parseElement } from '../../../../src/kernel/xml/reader.js'
import { day, usd } from '../../../support/values/builders.js'

const hashOf = (record: ProjectRecord) =>
  toHashedRecord(record, { source: 'import', today: day('2026-11-21'), currency: usd, photoConsent: false }, undefined)
    .hash

const today = '2026-11-23' as IsoDate

const everyField = {
  id: 2045,
  organization: {
    ...{ id: 318, bridgeId: '9007199254740993', name: 'Tara Water Trust', ein: '12-3', addressLine1: '1 Quay' },
    ...{ addressLine2: 'b', city: 'Bo', state: 'S', postal: '232', iso3166CountryCode: 'SL', country: 'Sierra Leone' },
    ...{ url: 'https://t.example', logoUrl: 'https://t.example/l.png', mission: 'Water', totalProjects: 3 },
    ...{ activeProjects: 2, iati: { ref: 'XX-1', type: '21' }, rating: '5' },
    themes: { theme: [{ id: 'water', name: 'Clean Water' }] },
    countries: { country: [{ name: 'Sierra Leone', iso3166CountryCode: 'SL' }] },
  },
  ...{ active: true, title: 'Wells', summary: 's', contactName: 'n', contactTitle: 't', contactAddress: 'a' },
  ...{ contactAddress2: 'a2', contactCity: 'c', contactState: 'st', contactPostal: 'p', contactCountry: 'cc' },
  ...{ contactUrl: 'u', projectLink: 'pl', progressReportLink: 'prl', themeName: 'tn', country: 'Sierra Leone' },
  ...{ iso3166CountryCode: 'SL', region: 'Africa', goal: '8000.0', funding: 1250.5, remaining: 6749.5 },
  ...{ numberOfDonations: 37, status: 'active', need: 'nd', longTermImpact: 'lti', activities: 'ac' },
  ...{ additionalDocumentation: 'ad', notice: 'no', imageLink: 'il', imageGallerySize: 2, longitude: -11.5 },
  ...{ latitude: 8.25, approvedDate: '2025-02-11T10:30:00+00:00', modifiedDate: '2026-10-02T08:00:00+00:00' },
  ...{ numberOfReports: 3, dateOfMostRecentReport: '2026-10-02T08:00:00+00:00', type: 'project' },
  videos: { video: [{ url: 'https://v.example' }] },
  donationOptions: { donationOption: [{ amount: 25, description: 'tools' }] },
  image: {
    ...{ title: 'A well', id: 0 },
    imagelink: [
      { url: 'https://i.example/s.jpg', size: 'small' },
      { url: 'https://i.example/o.jpg', size: 'original' },
    ],
  },
  themes: { theme: [{ id: 'water', name: 'Clean Water' }] },
  countries: { country: [{ name: 'Sierra Leone', iso3166CountryCode: 'SL' }] },
  iati: {
    ...{ deadline: '2027-06-30', glideNumber: 'FL-2026-000123-SLE', locationPrecision: 'point', locationName: 'Bo' },
    sdgs: { sdg: ['6', '6.1'] },
    payouts: { payout: [{ day: '2027-01-01', amount: 10, reference: 'p1' }] },
  },
  extra: { b: 1, a: [1] },
}

const least = { id: 7, active: true, status: 'active', title: 'Wells', funding: 12.5 }

function fromJson(value: object | string): ParsedValue {
  const item = parseJson(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), valueLimits)
  if ('problem' in item) throw new Error(`not readable: ${item.problem.got}`)
  return item.value
}

function recordOf(value: object | string) {
  const reading = parseProjectRecord(fromJson(value), today)
  if ('problems' in reading) throw new Error(JSON.stringify(reading.problems))
  return reading.record
}

function problemsOf(value: object | string) {
  const reading = parseProjectRecord(fromJson(value), today)
  return 'problems' in reading ? reading.problems : []
}

describe('reading a project record', () => {
  it('needs only id, active, status, title and funding', () => {
    expect(recordOf(least)).toEqual({
      id: 7,
      active: true,
      status: 'active',
      type: 'project',
      title: 'Wells',
      funding: '12.5',
      numberOfDonations: 0,
      countries: [],
      themes: [],
      videos: [],
      donationOptions: [],
    })
  })

  it('reads the same record from XML and from JSON, down to the hash', () => {
    const xml = `<project><active>true</active><countries><country><iso3166CountryCode>SL</iso3166CountryCode>
      <name>Sierra Leone</name></country></countries><funding>12.50</funding><goal>100.00</goal><id>7</id>
      <image id="0"><imagelink size="small"><url>https://giving.example/s.jpg</url></imagelink><title>Wells</title></image>
      <latitude>7.539200782775879</latitude><need>a &lt;b&gt; &amp;amp; c</need><numberOfDonations>3</numberOfDonations>
      <odd>x</odd><status>active</status><themes><theme><id>water</id><name>Clean Water</name></theme></themes>
      <title>Wells</title></project>`
    const json = `{"active":true,"countries":{"country":[{"name":"Sierra Leone","iso3166CountryCode":"SL"}]},
      "funding":12.50,"goal":100.00,"id":7,"image":{"title":"Wells","id":0,"imagelink":[{"url":"https://giving.example/s.jpg","size":"small"}]},
      "latitude":7.539200782775879,"need":"a <b> &amp; c","numberOfDonations":3,"odd":"x","status":"active",
      "themes":{"theme":{"id":"water","name":"Clean Water"}},"title":"Wells"}`
    const reading = parseProjectRecord(fromElement(parseElement(xml)), today)
    const record = 'record' in reading ? reading.record : undefined
    expect(record).toEqual(recordOf(json))
    expect(record?.unknownFields).toEqual({ odd: 'x' })
    expect(record && hashOf(record)).toBe(hashOf(recordOf(json)))
  })

  it('gives a record the hash that stores already hold, or the next import would write every record again', () => {
    const record = recordOf(everyField)
    expect(hashOf(record)).toBe('ab0f8f2312bf52c3ac1f0723d38896c7f3281e4971430b29c3b75b6a5fef0e87')
  })

  it('reads every field of the table that a record states, those too that came after the hashes', () => {
    const samples = {
      'text?': 'x',
      'textOrEmpty?': 'x',
      'address?': 'x',
      'count?': 1,
      'bigint?': '1',
      'money?': '1.5',
      'instant?': '2026-10-02T08:00:00Z',
    }
    const read = (noun: Noun, given: object, recordOfFields: (fields: object) => object | undefined) => {
      const stated = columnFields(noun, ['record'])
      const later = stated.filter((one) => !Object.hasOwn(given, wireNameOf(one)))
      const fields = Object.fromEntries(
        later.map((one) => [wireNameOf(one), samples[one.kind as keyof typeof samples]]),
      )
      const record = recordOfFields({ ...given, ...fields })
      for (const { field } of stated) expect(record).toHaveProperty(field)
    }
    read(projectFields, everyField, recordOf)
    read(organisationFields, everyField.organization, (organization) => {
      return recordOf({ ...everyField, organization }).organisation
    })
  })

  it('keeps every digit of money and coordinates', () => {
    const record = recordOf(`{"id":7,"active":true,"status":"active","title":"t","funding":123456789012345.678,
      "goal":8000.00,"latitude":-89.12345678901234567890,"longitude":0.1}`)
    expect(record).toMatchObject({
      funding: '123456789012345.678',
      goal: '8000.00',
      latitude: '-89.12345678901234567890',
      longitude: '0.1',
    })
  })

  it.each([
    ['id', 'x'],
    ['active', 'yes'],
    ['status', 'open'],
    ['title', ' '],
    ['funding', -1],
    ['goal', 'much'],
    ['numberOfDonations', 1.5],
    ['approvedDate', '2003-05-16'],
    ['modifiedDate', 0],
    ['dateOfMostRecentReport', 'yesterday'],
    ['organization', 'Tara Water Trust'],
  ])('refuses a record whose %s is %j, naming the field', (field, value) => {
    const problems = problemsOf({ ...least, [field]: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ field, expected: expect.any(String) })
  })

  it('refuses a record with an exponent in a JSON number', () => {
    expect(problemsOf('{"id":7,"active":true,"status":"active","title":"t","funding":1e3}')).toMatchObject([
      { field: 'funding', got: '1e3' },
    ])
  })

  it('names every wrong field of a record, and its id', () => {
    const reading = parseProjectRecord(
      fromJson({ ...least, active: 'no', goal: '-5', organization: { name: 'x' } }),
      today,
    )
    expect(reading).toMatchObject({
      recordId: '7',
      problems: [{ field: 'active' }, { field: 'goal' }, { field: 'organization/id' }],
    })
  })

  it('reads dates with odd offsets as the instants they are', () => {
    const record = recordOf({
      ...least,
      approvedDate: '2003-05-16T12:57:20+0545',
      modifiedDate: '2022-03-29T23:29:24.123-04:00',
      dateOfMostRecentReport: '2007-01-04T14:30:46Z',
    })
    expect(record.approvedDate?.toISOString()).toBe('2003-05-16T07:12:20.000Z')
    expect(record.modifiedDate?.toISOString()).toBe('2022-03-30T03:29:24.000Z')
    expect(record.dateOfMostRecentReport?.toISOString()).toBe('2007-01-04T14:30:46.000Z')
  })

  it('takes empty and blank texts as absent, and keeps other text as it came', () => {
    const record = recordOf({
      ...least,
      summary: '',
      need: ' \n ',
      activities: ' <p>a &amp; b</p>\r\n',
      organization: { id: 1, name: 'Trust', addressLine2: '' },
    })
    expect(record).not.toHaveProperty('summary')
    expect(record).not.toHaveProperty('need')
    expect(record.organisation).not.toHaveProperty('addressLine2')
    expect(record.activities).toBe(' <p>a &amp; b</p>\r\n')
  })

  it('refuses a text that is longer than those of any project', () => {
    expect(problemsOf({ ...least, need: 'x'.repeat(100_000) })).toEqual([])
    expect(problemsOf({ ...least, need: 'x'.repeat(100_001) })).toMatchObject([
      { field: 'need', expected: 'one text of at most 100000 characters' },
    ])
  })

  it('drops what no database can store as text', () => {
    expect(
      recordOf('{"id":7,"active":true,"status":"active","title":"a\\u0000b\\ud800c\\ud83c\\udf31","funding":1}').title,
    ).toBe('ab\ufffdc\u{1f331}')
  })

  it('accepts one object where a list is expected, and keeps the order and first of each in lists', () => {
    expect(
      recordOf({ ...least, themes: { theme: { id: 'edu' } }, videos: { video: { url: 'https://v.example' } } }),
    ).toMatchObject({
      themes: [{ id: 'edu', name: 'edu' }],
      videos: ['https://v.example'],
    })
    const themes = ['b', 'a', 'b', 'c'].map((id, index) => ({ id, name: `${id}${index}` }))
    expect(recordOf({ ...least, themes: { theme: themes } }).themes.map(({ name }) => name)).toEqual(['b0', 'a1', 'c3'])
  })

  it('keeps what it does not know, and coordinates that cannot be, as unknown fields', () => {
    const record = recordOf({
      ...least,
      contactEmail: 'a@b.example',
      latitude: '91',
      longitude: 'east',
      extra: { a: [1] },
    })
    expect(record).not.toHaveProperty('latitude')
    expect(record.unknownFields).toEqual({
      contactEmail: 'a@b.example',
      extra: { a: ['1'] },
      latitude: '91',
      longitude: 'east',
    })
  })

  it('keeps a 64-bit bridge id exactly', () => {
    const text =
      '{"id":7,"active":true,"status":"active","title":"t","funding":1,"organization":{"id":1,"name":"x","bridgeId":9223372036854775807}}'
    expect(recordOf(text).organisation?.bridgeId).toBe('9223372036854775807')
  })
})
