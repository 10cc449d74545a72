import type { Db } from '../../../platform/database/connection.js'
import { changesKnownUntil, currentOrganisationText, type TextRow, usualLimit, type WireFormat } from './ready-texts.js'

/** Which organisations a list is of; `active`: those with active projects; theme and country: what they work on and where. */
export type OrganisationSelection = {
  readonly which: 'all' | 'active' | 'vetted'
  readonly themeId?: string | undefined
  readonly countryCode?: string | undefined
  readonly modifiedSince?: Date | undefined
}

export type OrganisationPageRows = {
  readonly rows: readonly TextRow[]
  readonly nextOrgId?: number | undefined
  /** False when no theme has the id of the filter. */
  readonly themeKnown: boolean
  /** As in a page of projects. */
  readonly modifiedUntil?: Date | undefined
}

type Wanted = { readonly format: WireFormat; readonly recordVersion: number }

/** SQL condition on organisation `o`. */
export const organisationKinds = {
  all: 'true',
  active: 'exists (select from project p where p.organisation_id = o.id and p.active)',
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
  let themeKnown = 'true'
  if (page.themeId !== undefined) {
    const id = bind(page.themeId)
    conditions.push(`exists (
      select from organisation_theme t where t.organisation_id = o.id and t.theme_id = ${id})`)
    themeKnown = `exists (select from theme where id = ${id})`
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
  // The left join gives `modifiedUntil` also for an empty page: one row without an id.
  const { rows } = await db.query<
    Partial<Omit<TextRow, 'version'>> & { readonly modifiedUntil?: Date; readonly themeKnown: boolean }
  >(
    `select c.modified_until, c.theme_known, o.id,
        case when o.position <= ${limit} then ${currentOrganisationText(page.format, '$2')} end as text
      from (select ${page.modifiedSince ? changesKnownUntil : 'null::timestamptz'} as modified_until,
          ${themeKnown} as theme_known) c
        left join (
          select id, row_number() over (order by id) as position
          from (select o.id from ${source} where ${conditions.join(' and ')} order by o.id limit ${limit + 1}) page
        ) o on true
      order by o.id`,
    values,
    usual ? `organisations-${page.which}-${page.format}` : undefined,
  )
  const found = rows.flatMap(({ id, text }) => (id === undefined ? [] : { id, text }))
  const { modifiedUntil, themeKnown: isKnown = true } = rows[0] ?? {}
  return { rows: found.slice(0, limit), nextOrgId: found[limit]?.id, themeKnown: isKnown, modifiedUntil }
}

/** One organisation by its id, or by the id that an external register gave it (64 bits, as text). */
export async function findOrganisationRow(
  db: Db,
  by: { readonly id: number } | { readonly bridgeId: string },
  { format, recordVersion }: Wanted,
): Promise<TextRow | undefined> {
  const [name, condition, value] =
    'id' in by ? ['organisation', 'o.id = $1', by.id] : ['organisation-bridge', 'o.bridge_id = $1', by.bridgeId]
  const { rows } = await db.query<Omit<TextRow, 'version'>>(
    `select o.id, ${currentOrganisationText(format, '$2')} as text from organisation o where ${condition}
      order by o.id limit 1`,
    [value, recordVersion],
    `${name}-${format}`,
  )
  return rows[0]
}
