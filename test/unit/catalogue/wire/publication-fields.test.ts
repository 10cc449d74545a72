import { describe, expect, it } from 'vitest'
import type { ParsedObject } from '../../../../src/catalogue/wire/read/parsed-value.js'
import { organisationPublication, projectPublication } from '../../../../src/catalogue/wire/read/publication-fields.js'
import { ofRecords } from '../../../../src/catalogue/wire/read/record-types.js'
import { type MemberType, readObject } from '../../../../src/kernel/read-object.js'

function read<T>(of: MemberType<T>, fields: ParsedObject) {
  const { value: result, problems = [] } = readObject(of, fields, ofRecords, 'iati')
  return {
    result: Object(result),
    problems: problems.map(({ field, expected, got }) =>
      got === undefined ? `${field}: ${expected}` : `${field}: ${expected}, got ${got}`,
    ),
  }
}

describe('what publishing needs beyond the wire format', () => {
  it.each<[ParsedObject, object]>([
    [{}, {}],
    [{ deadline: ' ', glideNumber: '', locationPrecision: ' ', locationName: ' ', sdgs: null, payouts: '' }, {}],
    [{ deadline: ' 2027-06-30 ' }, { deadline: '2027-06-30' }],
    [{ glideNumber: ' FL-2026-000123-SLE ' }, { glideNumber: 'FL-2026-000123-SLE' }],
    [{ locationPrecision: 'point' }, { locationPrecision: 'point' }],
    [{ locationPrecision: 'country' }, { locationPrecision: 'country' }],
    [{ locationName: ' Bo ' }, { locationName: 'Bo' }],
    [{ sdgs: { sdg: ['6.1', ' 6 ', '6', '', '16'] } }, { sdgs: ['16', '6', '6.1'] }],
    [{ sdgs: { sdg: '6' } }, { sdgs: ['6'] }],
    [{ sdgs: ['6'] }, { sdgs: ['6'] }],
    [{ sdgs: '6' }, { sdgs: ['6'] }],
    [{ sdgs: {} }, { sdgs: [] }],
    [{ payouts: {} }, { payouts: [] }],
    [
      {
        payouts: {
          payout: [
            { day: '2027-01-01', amount: '10', reference: ' p1 ' },
            { day: '2027-02-01', amount: '0.01', reference: 'p2' },
          ],
        },
      },
      {
        payouts: [
          { reference: 'p1', plannedOn: '2027-01-01', amount: '10' },
          { reference: 'p2', plannedOn: '2027-02-01', amount: '0.01' },
        ],
      },
    ],
  ])('is read from %j', (fields, expected) => {
    const { result, problems } = read(projectPublication, fields)
    expect([result, problems]).toEqual([expected, []])
    expect(Object.keys(result)).toEqual(Object.keys(expected))
  })

  const glide = 'iati/glideNumber: a GLIDE number such as FL-2026-000123-SLE, got'
  const sdg = 'iati/sdgs/sdg: a goal such as 6 or a target such as 6.1, got'
  it.each<[ParsedObject, string[]]>([
    [{ deadline: '30.6.2027' }, ['iati/deadline: a day such as 2027-06-30, got 30.6.2027']],
    [{ glideNumber: 'FL-2026-000123-SLE1' }, [`${glide} FL-2026-000123-SLE1`]],
    [{ glideNumber: 'xFL-2026-000123-SLE' }, [`${glide} xFL-2026-000123-SLE`]],
    [{ glideNumber: 'FL-2026-123-SLE' }, [`${glide} FL-2026-123-SLE`]],
    [{ locationPrecision: 'exact' }, ['iati/locationPrecision: point or country, got exact']],
    [{ sdgs: { sdg: ['18', '6.9', { a: '1' }] } }, [`${sdg} 18`, `${sdg} 6.9`, `${sdg} {"a":"1"}`]],
    [
      { payouts: { payout: [{ day: 'soon', amount: '0', reference: ' ' }] } },
      [
        'iati/payouts/day: a day such as 2027-06-30, got soon',
        'iati/payouts/amount: more than 0, got 0',
        'iati/payouts/reference: a text that is not blank, got  ',
      ],
    ],
    [
      {
        payouts: [
          { day: '2027-01-01', amount: '1', reference: 'p' },
          { day: '2027-02-01', amount: '1', reference: 'p ' },
        ],
      },
      ['iati/payouts: payouts of different references'],
    ],
  ])('is refused for %j', (fields, problems) => {
    expect(read(projectPublication, fields).problems).toEqual(problems)
  })
})

describe("an organisation's identifier and type", () => {
  it.each<[ParsedObject, object, string[]]>([
    [{}, {}, []],
    [{ ref: ' XX-1 ', type: ' 21 ' }, { ref: 'XX-1', type: '21' }, []],
    [{ ref: ' ', type: ' ' }, {}, []],
    [{ type: '5' }, {}, ['iati/type: a code of the IATI OrganisationType list, got 5']],
  ])('are read from %j', (fields, expected, problems) => {
    const { result, problems: found } = read(organisationPublication, fields)
    expect([result, found]).toEqual([expected, problems])
    expect(Object.keys(result)).toEqual(Object.keys(expected))
  })
})
