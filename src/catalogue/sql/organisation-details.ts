import { type OrganisationFields, organisationFields } from '../../kernel/nouns/organisation.js'
import type { Db } from '../../platform/database/connection.js'
import { type RowChange, upsertRows } from '../../platform/database/upsert.js'
import { columnsOf, createToColumns, updateStated } from './field-columns.js'

/** What only the operator says of an organisation; what is absent stays as it is. */
export type OrganisationDetails = OrganisationFields<'iati'> & {
  readonly id: number
  readonly vetted?: boolean | undefined
}

const updateDetails = updateStated('organisation', [...columnsOf(organisationFields, 'iati'), 'vetted'])
const toColumns = createToColumns(organisationFields, 'iati')

/** Writes what differs. */
export async function saveOrganisationDetails(db: Db, details: readonly OrganisationDetails[]): Promise<void> {
  const rows = details.map((one) => ({ ...toColumns(one), id: one.id, vetted: one.vetted }))
  await db.query(updateDetails, [JSON.stringify(rows)])
}

/** Versions of those of these organisations that the store has: a version moves with every change. */
export async function organisationVersions(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const { rows } = await db.query<{ id: number; version: number }>(
    'select organisation_id as id, version from organisation_version where organisation_id = any ($1::bigint[])',
    [ids],
  )
  return new Map(rows.map(({ id, version }) => [id, version]))
}

/** An organisation that gives; what is absent stays as it is. */
export type Funder = OrganisationDetails & {
  readonly name: string
  readonly ein?: string | undefined
  readonly url?: string | undefined
  readonly countryCode?: string | undefined
  readonly countryName?: string | undefined
}

const optional = ['org_ref', 'org_type', 'ein', 'url', 'country_code', 'country_name']

const funders = {
  table: 'organisation',
  key: ['id'],
  columns: ['name', ...optional],
  insertOnly: ['source', 'vetted'],
  where: 't.source = excluded.source',
  values: Object.fromEntries(optional.map((column) => [column, `coalesce(excluded.${column}, t.${column})`])),
}

/** Writes organisations that give. A new one is not vetted: vetting is for partners. */
export async function saveFunders(db: Db, rows: readonly Funder[], source: string): Promise<RowChange[]> {
  return await upsertRows(
    db,
    funders,
    rows.map(({ id, name, orgRef, orgType, ein, url, countryCode, countryName }) => ({
      ...{ id, name, org_ref: orgRef, org_type: orgType, ein, url },
      ...{ country_code: countryCode, country_name: countryName, source, vetted: false },
    })),
  )
}
