import type { Db } from '../database/connection.js'
import { usualLimit } from './project-pages.js'
import { changesKnownUntil, currentOrganisationText, type TextRow, type WireFormat } from './ready-texts.js'

/** What is asked of a list of organisations. `active`: with active projects; theme and country: what it works on, where. */
export type OrganisationSelection = {
  readonly which: 'all' | 'active' | 'vetted'
  readonly themeId?: string | undefined
  readonly countryCode?: string | undefined
  readonly modifiedSince?: Date | undefined
}

export type OrganisationPageRows = {
  readonly rows: readonly TextRow[]
  readonly nextOrgId?: number
  /** As of a page of projects. */
  readonly modifiedUntil?: Date
}

type Wanted = { readonly format: WireFormat; readonly recordVersion: number }
type Row = { modified_until: Date | null; id: number | null; text: string | null }

/** SQL condition on organisation `o`; what the source states of its projects wins over what is stored here. */
export const organisationKinds = {
  all: 'true',
  active: `coalesce(o.stated_active_projects > 0,
    exists (select from project p where p.organisation_id = o.id and p.active))`,
  vetted: 'o.vetted',
} as const

/** One page from an inclusive lower bound on, in id order, in one round trip. */
export async function selectOrganisationPage(
  db: Db,
  page: OrganisationSelection & { from: number; limit: number } & Wanted,
): Promise<OrganisationPageRows> {
  const values: unknown[] = [page.from, page.recordVersion]
  const bind = (value: unknown) => `$${values.push(value)}`
  const conditions = ['o.id >= $1', organisationKinds[page.which]]
  let source = 'organisation o'
  if (page.themeId !== undefined) {
    conditions.push(`exists (
      select from organisation_theme t where t.organisation_id = o.id and t.theme_id = ${bind(page.themeId)})`)
  }
  if (page.countryCode !== undefined) {
    conditions.push(`exists (
      select from organisation_country t where t.organisation_id = o.id and t.country_code = ${bind(page.countryCode)})`)
  }
  if (page.modifiedSince) {
    source += ' join organisation_version changed on changed.organisation_id = o.id'
    conditions.push(`changed.changed_at >= ${bind(page.modifiedSince)}`)
  }
  const limit = Math.trunc(page.limit)
  const usual = limit === usualLimit && values.length === 2
  const { rows } = await db.query<Row>(
    `select c.modified_until, o.id,
        case when o.position <= ${limit} then ${currentOrganisationText(page.format, '$2')} end as text
      from (select ${page.modifiedSince ? changesKnownUntil : 'null::timestamptz'} as modified_until) c
        left join (
          select id, row_number() over (order by id) as position
          from (select o.id from ${source} where ${conditions.join(' and ')} order by o.id limit ${limit + 1}) page
        ) o on true
      order by o.id`,
    values,
    usual ? `organisations-${page.which}-${page.format}` : undefined,
  )
  const found = rows.flatMap((row) => toTextRow(row) ?? [])
  const next = found[limit]
  const until = rows[0]?.modified_until
  return { rows: found.slice(0, limit), ...(next && { nextOrgId: next.id }), ...(until && { modifiedUntil: until }) }
}

/** One organisation by its id, or by the id that an external register gave it (64 bits, as text). */
export async function findOrganisationRow(
  db: Db,
  by: { readonly id: number } | { readonly bridgeId: string },
  { format, recordVersion }: Wanted,
): Promise<TextRow | undefined> {
  const [name, condition, value] =
    'id' in by ? ['organisation', 'o.id = $1', by.id] : ['organisation-bridge', 'o.bridge_id = $1', by.bridgeId]
  const { rows } = await db.query<Row>(
    `select o.id, ${currentOrganisationText(format, '$2')} as text from organisation o where ${condition}
      order by o.id limit 1`,
    [value, recordVersion],
    `${name}-${format}`,
  )
  return rows[0] && toTextRow(rows[0])
}

function toTextRow(row: Pick<Row, 'id' | 'text'>): TextRow | undefined {
  if (row.id === null) return undefined
  return { id: row.id, ...(row.text !== null && { text: row.text }) }
}
