import { themeDefaults } from '../../kernel/theme-sectors.js'
import { oneOf, pick, textArrayLiteral } from './sql.js'
import { organisationWords, syllables, worldwide } from './words.js'

export const themeIds = Object.keys(themeDefaults).sort()

/** An invented place name from a number: three syllables, so 13,824 of them. */
export function placeName(index: string): string {
  const n = syllables.length
  const part = (value: string) => oneOf(syllables, value)
  // Strides without common divisor with the number of syllables: neighbours do not sound alike.
  return `initcap(${part(`${index} * 7`)} || ${part(`${index} / ${n} * 5 + ${index}`)} || ${part(`${index} / ${n * n} * 11 + ${index} * 5`)})`
}

/** Regions, countries and themes; what is already there stays as it is. $1 countries as JSON, $2 themes as JSON. */
export const insertReferences = [
  `insert into region (name)
   select region from json_to_recordset($1::json) as c(region text) union select '${worldwide}' order by 1
   on conflict (name) do nothing`,
  `insert into country (code, name, region_name)
   select code, name, region from json_to_recordset($1::json) as c(code text, name text, region text) order by code
   on conflict (code) do nothing`,
  `insert into theme (id, name, sector_code, humanitarian, name_source)
   select id, name, "sectorCode", humanitarian, (select source from seed_setting)
   from json_to_recordset($1::json) as t(id text, name text, "sectorCode" text, humanitarian boolean) order by id
   on conflict (id) do nothing`,
] as const

/** SQL: the web site of an organisation. */
export function organisationPage(id: string): string {
  return `case when s.odd then 'https://org-' || ${id} || '.example' else s.base_url || '/organizations/' || ${id} || '/' end`
}

/** SQL: the code of the country `k` steps after one; the steps do not come back to it before all countries. */
export function countryAfter(country: string): string {
  const count = 'jsonb_array_length(s.countries)'
  return `s.countries -> ((${country} + k * case when ${count} % 5 = 0 then 1 else 5 end) % ${count}) ->> 'code'`
}

const index = '(s.first_id + g.j)'

/** Organisations $1 (from) to $2 (to), zero-based. A third in the United States has an EIN; no issued EIN begins with 00. */
export const insertOrganisations = `
  insert into organisation (id, bridge_id, name, ein, address_line1, city, state, postal, country_code, country_name, url,
    logo_url, mission, org_ref, org_type, source)
  select o.id,
    case when o.id % 11 = 0 then 10000000000 + o.id end,
    case when o.j % 29 = 3 then 'جمعية ' || o.place || ' الخيرية'
      when o.j % 29 = 7 then 'עמותת ' || o.place
      else o.place || ' ' || ${oneOf(organisationWords, pick('o.id', 102, 16))} end
      || case when o.j >= 13824 then ' ' || (o.j / 13824 + 1)::text else '' end,
    case when o.has_ein then '00-' || lpad((o.id % 10000000)::text, 7, '0') end,
    (1 + ${pick('o.id', 103, 400)})::text || ' ' || o.place || ' Road',
    o.place,
    case when ${pick('o.id', 104, 3)} > 0 then o.place || ' Province' end,
    lpad(${pick('o.id', 105, 100000)}::text, 5, '0'),
    c.code, c.name,
    case when ${pick('o.id', 106, 6)} > 0 then ${organisationPage('o.id')} end,
    s.base_url || '/img/org/' || o.id || '.png',
    case when o.j % 13 = 5 then 'Dignity & <em>self-help</em> in ' || o.place || E'.\\nSince 1998.'
      else 'Working with the people of ' || o.place || ' for dignity and self-help.' end,
    case when o.has_ein and ${pick('o.id', 107, 2)} = 0 then 'US-EIN-00' || lpad((o.id % 10000000)::text, 7, '0') end,
    (${textArrayLiteral(['22', '24', '21', '60', '70', '80'])})[${pick('o.id', 108, 8)} + 1],
    s.source
  from (
    select s.first_id + j as id, j, ${placeName('(j + 5)')} as place, ${pick('(s.first_id + j)', 101, 'jsonb_array_length(s.countries)')} as country,
      ${pick('(s.first_id + j)', 109, 5)} < 2 as has_ein
    from seed_setting s, generate_series($1::bigint, $2::bigint) j
  ) o, seed_setting s,
  lateral (select case when o.has_ein then 'US' else s.countries -> o.country ->> 'code' end as code,
    case when o.has_ein then 'United States' else s.countries -> o.country ->> 'name' end as name) c`

/** What the organisations of the same range work on and where. */
export const insertOrganisationParts = [
  `insert into organisation_theme (organisation_id, position, theme_id)
   select s.first_id + g.j, k, (${textArrayLiteral(themeIds)})[(${pick(index, 111, themeIds.length)} + k * 9) % ${themeIds.length} + 1]
   from seed_setting s, generate_series($1::bigint, $2::bigint) g(j), generate_series(0, ${pick(index, 112, 4)}) k`,
  `insert into organisation_country (organisation_id, position, country_code)
   select s.first_id + g.j, k, ${countryAfter(pick(index, 113, 'jsonb_array_length(s.countries)'))}
   from seed_setting s, generate_series($1::bigint, $2::bigint) g(j),
     generate_series(0, least(${pick(index, 114, 3)}, jsonb_array_length(s.countries) - 1)) k`,
] as const
