import type { OrganisationRecord } from '../../../kernel/record.js'
import type { Db } from '../../../platform/database/connection.js'
import { organisationVersions, saveOrganisationDetails } from '../../sql/organisation-details.js'
import { organisationSources, saveOrganisationRecords } from '../../sql/organisations.js'
import { findThemeIds } from '../../sql/theme-lookup.js'
import { countryNameOf } from '../country-names.js'
import * as type from '../field-types.js'
import { externalIdOf, type KindFields, type RowOf } from '../fields.js'
import { defineKind, type ImportSaving, type RecordOutcome } from '../kind.js'
import { unknownTheme } from '../unknown-theme.js'

/** Fields of an organisation as a party to a transaction. */
export const partyFields = {
  orgRef: {
    type: type.text,
    kept: true,
    cleared: { table: 'organisation', columns: ['org_ref'] },
    means: 'IATI organisation identifier.',
    examples: ['GB-CHC-202918', ''],
    iati: 'participating-org/@ref, provider-org, receiver-org',
  },
  orgType: {
    type: type.code('OrganisationType', 'a code of the IATI list OrganisationType, such as 22'),
    kept: true,
    cleared: { table: 'organisation', columns: ['org_type'] },
    means: 'Code of the IATI list OrganisationType.',
    examples: ['22', '21'],
    iati: 'participating-org/@type',
  },
} as const satisfies KindFields

const organisationKindFields = {
  id: {
    type: type.identifier,
    required: true,
    numbers: 'organisation',
    means: "The platform's number of the organisation. It never changes.",
    examples: ['7', '8'],
    api: 'id',
  },
  externalId: externalIdOf('the organisation'),
  name: {
    type: type.text,
    required: true,
    means: 'Name.',
    examples: ['Tara Water Trust', 'Gulu Schools'],
    api: 'name',
    iati: 'participating-org, iati-organisation',
  },
  ...partyFields,
  vetted: {
    type: type.yesNo,
    kept: true,
    means: 'Whether the API lists it among the vetted ones. A new one is vetted unless it says no.',
    examples: ['yes', 'no'],
    api: 'the list all/organizations/vetted',
  },
  ein: {
    type: type.text,
    means: 'Employer Identification Number in the United States; makes the IATI identifier where orgRef is missing.',
    examples: ['', '12-3456789'],
    api: 'ein',
    iati: 'participating-org/@ref US-EIN-...',
  },
  addressLine1: plain('Address, first line.', 'addressLine1', '1 Dam Street'),
  addressLine2: plain('Address, second line.', 'addressLine2'),
  city: plain('City.', 'city', 'Bo'),
  state: plain('State or province.', 'state'),
  postal: plain('Postal code.', 'postal', '232'),
  country: {
    type: type.country,
    means: 'Country of the address, ISO 3166-1.',
    examples: ['SL', 'US'],
    api: 'country, iso3166CountryCode',
  },
  url: {
    type: type.address,
    means: 'Web site.',
    examples: ['https://tarawater.example', ''],
    api: 'url',
    iati: 'reporting and partner records: document-link',
  },
  logoUrl: {
    type: type.address,
    means: 'Logo.',
    examples: ['https://tarawater.example/logo.png', ''],
    api: 'logoUrl',
  },
  mission: plain('What it does.', 'mission', 'Safe water for every village.'),
  themes: {
    type: type.listOf(type.text),
    means: 'Themes that it works on, by id or by name.',
    examples: ['water', 'Education'],
    api: 'themes',
  },
  countries: {
    type: type.listOf(type.country),
    means: 'Countries that it works in, ISO 3166-1.',
    examples: ['SL|GN', 'UG'],
    api: 'countries',
  },
  bridgeId: {
    type: type.shaped('BRIDGE number', 'a whole number', /^\d{1,18}$/),
    means: 'Number in the registry of the BRIDGE programme.',
    examples: ['', ''],
    api: 'bridgeId',
  },
} as const satisfies KindFields

function plain<const Api extends string>(means: string, api: Api, example = '') {
  return { type: type.text, means, examples: [example, ''], api } as const
}

type OrganisationRow = RowOf<typeof organisationKindFields>

export const organisations = defineKind({
  name: 'organizations',
  means: 'Organisations that carry projects out.',
  fields: organisationKindFields,
  key: ['id'],
  repeated: 'last',
  save: async (db, rows, saving) => {
    const themeIds = await findThemeIds(
      db,
      rows.flatMap(({ themes = [] }) => themes),
      saving.source,
    )
    const unknown = new Map<number, RecordOutcome>()
    const records = rows.flatMap((row) => {
      const theme = row.themes?.find((one) => !themeIds.has(one))
      if (theme === undefined) return toRecord(row, themeIds)
      unknown.set(row.id, unknownTheme(theme))
      return []
    })
    const details = new Map(rows.map((row) => [row.id, row]))
    const outcomes = await importOrganisations(db, records, saving, details)
    return rows.map(({ id }) => unknown.get(id) ?? outcomes.get(id) ?? 'unchanged')
  },
})

/** Writes organisations and what only the operator says of them; returns the outcome of each by id. */
export async function importOrganisations(
  db: Db,
  records: readonly OrganisationRecord[],
  { source }: ImportSaving,
  details: ReadonlyMap<number, { readonly vetted?: boolean | undefined }> = new Map(),
): Promise<Map<number, RecordOutcome>> {
  const ids = records.map(({ id }) => id)
  const before = await organisationVersions(db, ids)
  const owners = await organisationSources(db, ids)
  const foreign = new Set(await saveOrganisationRecords(db, records, source))
  const own = records.filter(({ id }) => !foreign.has(id))
  await saveOrganisationDetails(
    db,
    own.map(({ id, publication }) => ({
      id,
      orgRef: publication?.ref,
      orgType: publication?.type,
      vetted: details.get(id)?.vetted,
    })),
  )
  const after = await organisationVersions(db, ids)
  const outcomes = new Map<number, RecordOutcome>()
  for (const id of ids) {
    if (foreign.has(id)) {
      const got = `organisation ${id}, which is ${owners.get(id)}`
      outcomes.set(id, { field: 'id', expected: `an id that is new or from ${source}`, got })
    } else if (!before.has(id)) outcomes.set(id, 'created')
    else outcomes.set(id, before.get(id) === after.get(id) ? 'unchanged' : 'changed')
  }
  return outcomes
}

function toRecord(row: OrganisationRow, themeIds: ReadonlyMap<string, string>): OrganisationRecord {
  const {
    externalId: _externalId,
    orgRef,
    orgType,
    vetted: _vetted,
    country,
    themes = [],
    countries = [],
    ...fields
  } = row
  const ids = [...new Set(themes.map((theme) => themeIds.get(theme) ?? theme))]
  return {
    ...fields,
    ...(country !== undefined && { countryCode: country, countryName: countryNameOf(country) }),
    publication: { ...(orgRef !== undefined && { ref: orgRef }), ...(orgType !== undefined && { type: orgType }) },
    // The name of a stored theme stays: a name equal to the id changes nothing.
    themes: ids.map((id) => ({ id, name: id })),
    countries: [...new Set(countries)].map((code) => ({ code, name: countryNameOf(code) })),
  }
}
