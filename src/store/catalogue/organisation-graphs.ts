import type { Country, Organisation, Theme } from '../../domain/project.js'
import type { Db } from '../database/connection.js'

/** A theme's columns. */
export type ThemeRow = { id: string; name: string; sector_code: string | null; humanitarian: boolean }

/** An organisation as `organisationJson` selects it. */
export type OrganisationRow = {
  id: number
  bridge_id: string | null
  name: string
  ein: string | null
  address_line1: string | null
  address_line2: string | null
  city: string | null
  state: string | null
  postal: string | null
  country_code: string | null
  country_name: string | null
  url: string | null
  logo_url: string | null
  mission: string | null
  total_projects: number
  active_projects: number
  org_ref: string | null
  org_type: string | null
  themes: ThemeRow[] | null
  countries: Country[] | null
}

/**
 * SQL: the organisation whose id is `id` (SQL too) as JSON with its parts; null when there is none. The bridge id goes as
 * text: it has 64 bits, and a number of JSON only 53.
 */
export const organisationJson = (id: string): string => `(
  select to_json(t) from (
    select o.id, o.bridge_id::text, o.name, o.ein, o.address_line1, o.address_line2, o.city, o.state, o.postal, o.country_code,
        o.country_name, o.url, o.logo_url, o.mission, o.org_ref, o.org_type,
        coalesce(o.stated_total_projects, (select count(*) from project p where p.organisation_id = o.id))
          as total_projects,
        coalesce(o.stated_active_projects, (select count(*) from project p where p.organisation_id = o.id and p.active))
          as active_projects,
        (select json_agg(t) from (
          select id, name, sector_code, humanitarian from organisation_theme join theme on id = theme_id
            where organisation_id = o.id order by position) t) as themes,
        (select json_agg(t) from (
          select code, name from organisation_country join country on code = country_code
            where organisation_id = o.id order by position) t) as countries
      from organisation o where o.id = ${id}) t)`

/** Organisations with the version that their records are of; unknown ids are left out. One statement, so one snapshot. */
export async function organisationGraphs(
  db: Db,
  ids: readonly number[],
): Promise<{ readonly organisation: Organisation; readonly version: number }[]> {
  const { rows } = await db.query<{ version: number; organisation: OrganisationRow | null }>(
    `select version, ${organisationJson('v.organisation_id')} as organisation
      from organisation_version v where organisation_id = any ($1::bigint[])`,
    [ids],
    'organisation-graphs',
  )
  return rows.flatMap(({ organisation, version }) =>
    organisation ? { organisation: toOrganisation(organisation), version } : [],
  )
}

export function toOrganisation(row: OrganisationRow): Organisation {
  return {
    id: row.id,
    name: row.name,
    totalProjects: row.total_projects,
    activeProjects: row.active_projects,
    themes: (row.themes ?? []).map(toTheme),
    countries: (row.countries ?? []).map(toCountry),
    bridgeId: row.bridge_id || undefined,
    ein: row.ein || undefined,
    addressLine1: row.address_line1 || undefined,
    addressLine2: row.address_line2 || undefined,
    city: row.city || undefined,
    state: row.state || undefined,
    postal: row.postal || undefined,
    countryCode: row.country_code || undefined,
    countryName: row.country_name || undefined,
    url: row.url || undefined,
    logoUrl: row.logo_url || undefined,
    mission: row.mission || undefined,
    orgRef: row.org_ref || undefined,
    orgType: row.org_type || undefined,
  }
}

export function toCountry(row: Country): Country {
  return { code: row.code, name: row.name }
}

export function toTheme(row: ThemeRow): Theme {
  return {
    id: row.id,
    name: row.name,
    humanitarian: row.humanitarian,
    ...(row.sector_code !== null && { sectorCode: row.sector_code }),
  }
}
