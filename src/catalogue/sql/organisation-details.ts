import type { Db } from '../../platform/database/connection.js'
import { type RowChange, upsertRows } from '../../platform/database/upsert.js'

/** What only the operator says of an organisation; what is absent stays as it is. */
export type OrganisationDetails = {
  readonly id: number
  readonly orgRef?: string | undefined
  readonly orgType?: string | undefined
  readonly vetted?: boolean | undefined
}

/** Writes what differs. */
export async function saveOrganisationDetails(db: Db, details: readonly OrganisationDetails[]): Promise<void> {
  const rows = details.map(({ id, orgRef, orgType, vetted }) => ({ id, org_ref: orgRef, org_type: orgType, vetted }))
  await db.query(
    `update organisation t
      set org_ref = coalesce(w.org_ref, t.org_ref), org_type = coalesce(w.org_type, t.org_type),
        vetted = coalesce(w.vetted, t.vetted)
      from json_to_recordset($1::json) w (id bigint, org_ref text, org_type text, vetted boolean)
      where w.id = t.id and (t.org_ref, t.org_type, t.vetted)
        is distinct from (coalesce(w.org_ref, t.org_ref), coalesce(w.org_type, t.org_type), coalesce(w.vetted, t.vetted))`,
    [JSON.stringify(rows)],
  )
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
