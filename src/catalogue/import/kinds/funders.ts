import { saveFunders } from '../../sql/organisation-details.js'
import { organisationSources } from '../../sql/organisations.js'
import { countryNameOf } from '../country-names.js'
import * as type from '../field-types.js'
import { externalIdOf, type KindFields } from '../fields.js'
import { defineKind, type RecordOutcome } from '../kind.js'
import { partyFields } from './organisations.js'

const funderKindFields = {
  id: {
    type: type.identifier,
    required: true,
    numbers: 'organisation',
    means: "The platform's number of the organisation; funders and partners share their numbers.",
    examples: ['501', '502'],
    api: 'id',
  },
  externalId: externalIdOf('the organisation'),
  name: {
    type: type.text,
    required: true,
    means: 'Name.',
    examples: ['Fund of Lakes', 'Bakery Co-operative'],
    api: 'name',
    iati: 'participating-org role 1 (funding), provider-org',
  },
  ...partyFields,
  ein: {
    type: type.text,
    kept: true,
    cleared: { table: 'organisation', columns: ['ein'] },
    means: 'Employer Identification Number in the United States; makes the IATI identifier where orgRef is missing.',
    examples: ['', '98-7654321'],
    api: 'ein',
    iati: 'provider-org/@ref US-EIN-...',
  },
  country: {
    type: type.country,
    kept: true,
    cleared: { table: 'organisation', columns: ['country_code', 'country_name'] },
    means: 'Country of the address, ISO 3166-1.',
    examples: ['CH', 'US'],
    api: 'country, iso3166CountryCode',
  },
  url: {
    type: type.address,
    kept: true,
    cleared: { table: 'organisation', columns: ['url'] },
    means: 'Web site.',
    examples: ['https://lakes.example', ''],
    api: 'url',
  },
} as const satisfies KindFields

export const funders = defineKind({
  name: 'funders',
  means: 'Organisations that give. Import them before the gifts that name them.',
  fields: funderKindFields,
  key: ['id'],
  repeated: 'last',
  save: async (db, rows, { source }) => {
    const owners = await organisationSources(
      db,
      rows.map(({ id }) => id),
    )
    const own = rows.filter(({ id }) => (owners.get(id) ?? source) === source)
    const changes = await saveFunders(
      db,
      own.map(({ country: code, ...row }) => ({
        ...row,
        ...(code !== undefined && { countryCode: code, countryName: countryNameOf(code) }),
      })),
      source,
    )
    const outcomes = new Map<number, RecordOutcome>(own.map(({ id }, index) => [id, changes[index] ?? 'unchanged']))
    return rows.map(({ id }) => {
      const got = `organisation ${id}, which is ${owners.get(id)}`
      return outcomes.get(id) ?? { field: 'id', expected: `an id that is new or from ${source}`, got }
    })
  },
})
