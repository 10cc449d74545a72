import { organisationFields } from '../../../kernel/nouns/organisation.js'
import { ofEach } from '../../../kernel/rows.js'
import { saveFunders } from '../../sql/organisation-details.js'
import { organisationSources } from '../../sql/organisations.js'
import { countryNameOf } from '../country-names.js'
import type { KindField, KindFields } from '../fields.js'
import { defineKind, type RecordOutcome } from '../kind.js'
import { fieldsInFiles } from '../noun-fields.js'

const { id, externalId, name, orgRef, orgType, ein, country, url } = fieldsInFiles(organisationFields, 'organisation')

/** A field that keeps its value where a file leaves it out, since what gives may carry projects out too. */
function kept<F extends KindField>(
  { iati: _iati, ...field }: F,
  examples: KindField['examples'],
  ...columns: readonly string[]
) {
  return { ...field, kept: true, cleared: { table: 'organisation', columns }, examples } as const
}

const funderKindFields = {
  id: {
    ...id,
    means: "The platform's number of the organisation; funders and partners share their numbers.",
    examples: ['501', '502'],
  },
  externalId,
  name: {
    ...name,
    examples: ['Fund of Lakes', 'Bakery Co-operative'],
    iati: 'participating-org role 1 (funding), provider-org',
  },
  orgRef,
  orgType,
  ein: { ...kept(ein, ['', '98-7654321'], 'ein'), iati: 'provider-org/@ref US-EIN-...' },
  country: kept(country, ['CH', 'US'], 'country_code', 'country_name'),
  url: kept(url, ['https://lakes.example', ''], 'url'),
} as const satisfies KindFields

export const funders = defineKind({
  name: 'funders',
  means: 'Organisations that give. Import them before the gifts that name them.',
  fields: funderKindFields,
  key: ['id'],
  repeated: 'last',
  save: async (db, rows, { source }) => {
    const owners = await organisationSources(db, ofEach(rows, 'id'))
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
