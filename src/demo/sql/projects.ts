import { themeDefaults } from '../../kernel/theme-sectors.js'
import { countryAfter, organisationPage, placeName, themeIds } from './organisations.js'
import { literal, oneOf, pick, textArrayLiteral } from './sql.js'
import { arabicPurposes, blankText, hebrewPurposes, markupText, themeWords } from './words.js'

const themeNames = themeIds.map((id) => themeDefaults[id]?.name ?? id)
const disasterTheme = themeIds.indexOf('disaster')
const themePurposes = themeIds.map((id) => themeWords[id]?.[0] ?? 'Help for %n people in %p')

/** The plan of a chunk of projects; it lasts as long as the chunk's transaction. */
export const createPlan = `
  create temporary table seed_plan (
    id bigint primary key, i bigint, status text, organisation_id bigint, theme integer, country integer, months integer,
    start_month date, end_month date, approved date, target numeric, monthly numeric, reports integer, place text,
    title text, slug text
  ) on commit drop`

/** Plans projects $1 (from) to $2 (to), zero-based. */
export const insertPlan = `
  insert into seed_plan
  select f.id, f.i, f.status,
    case when f.status <> 'retired' or ${pick('f.id', 203, 4)} > 0
      then f.first_id + ${pick('f.id', 204, 'f.organisations')} end,
    f.theme, ${pick('f.id', 205, 'jsonb_array_length(f.countries)')}, f.months,
    d.start_month, d.end_month, d.start_month - 1 - ${pick('f.id', 206, 20)},
    f.target, f.target * (case f.status when 'active' then 10 + ${pick('f.id', 207, 80)}
      when 'funded' then 100 + ${pick('f.id', 207, 15)} else 5 + ${pick('f.id', 207, 120)} end) / 100 / f.months,
    ${pick('f.id', 208, 9)}, f.place, t.title,
    trim(both '-' from regexp_replace(lower(t.title), '[^a-z0-9]+', '-', 'g')) || '-' || f.id
  from (
    select s.*, s.first_id + i as id, i,
      case when h.status < 60 then 'active' when h.status < 82 then 'funded' else 'retired' end as status,
      ${pick('s.first_id + i', 209, themeIds.length)} as theme, coalesce(s.same_months, 12 + ${pick('s.first_id + i', 210, 49)}) as months,
      (2 + ${pick('s.first_id + i', 211, 120)}) * 500 as target, ${placeName('i')} as place
    from seed_setting s, generate_series($1::bigint, $2::bigint) i,
      lateral (select ${pick('s.first_id + i', 201, 100)} as status) h
  ) f,
  lateral (select (date_trunc('month', f.today) - make_interval(months => case f.status when 'active' then 0
    when 'funded' then ${pick('f.id', 212, 7)} else 3 + ${pick('f.id', 212, 30)} end))::date as end_month) e,
  lateral (select e.end_month, (e.end_month - make_interval(months => f.months - 1))::date as start_month) d,
  lateral (select replace(replace(case
      when f.i % 23 = 9 then ${oneOf(arabicPurposes, 'f.i')}
      when f.i % 29 = 11 then ${oneOf(hebrewPurposes, 'f.i')}
      else (${textArrayLiteral(themePurposes)})[f.theme + 1] end,
    '%n', (20 + 5 * ${pick('f.id', 213, 190)})::text), '%p', f.place)
    || case when f.i % 41 = 13 then ' & "beyond"' else '' end
    || case when f.i >= 13824 then ' ' || (f.i / 13824 + 1)::text else '' end as title) t`

const chosen = (column: string) => `s.countries -> p.country ->> '${column}'`
const day = (expression: string) => `(${expression})::timestamp at time zone 'UTC'`

/** The planned projects, their totals taken from \`seed_month\` and \`seed_report\`. */
export const insertProjects = `
  insert into project (id, organisation_id, active, status, paused, type, title, summary, need, long_term_impact,
    activities, notice, additional_documentation, contact_name, contact_title, contact_address, contact_city,
    contact_state, contact_postal, contact_country, contact_url, project_link, progress_report_link, theme_name,
    country_name, country_code, region_name, goal, funding, remaining, number_of_donations, number_of_reports,
    date_of_most_recent_report, image_link, image_title, image_gallery_size, latitude, longitude, approved_date,
    modified_date, deadline, location_precision, source, first_seen_on, original_goal, glide_number, location_name)
  select p.id, p.organisation_id, p.status = 'active', p.status, p.status <> 'retired' and ${pick('p.id', 301, 50)} = 7,
    case when ${pick('p.id', 302, 33)} = 1 then 'fund' else 'project' end, p.title,
    case when s.odd and p.i % 17 = 2 then ${literal(markupText)}
      when not s.odd or p.i % 53 <> 17 then 'Together with neighbours in ' || p.place || ' we make this last: ' || p.title || '.' end,
    case when s.odd and p.i % 19 = 3 then ${literal(blankText)}
      when not s.odd or p.i % 37 <> 20 then 'Families in ' || p.place || ' have waited for years. The nearest help is '
        || (3 + ${pick('p.id', 303, 40)}) || ' km away, and the road is closed in the rainy season.' end,
    case when not s.odd or p.i % 31 <> 5 then 'Lasting change for at least ' || (5 + ${pick('p.id', 304, 20)}) || ' years.' end,
    case when s.odd and p.i % 23 = 4 then '<p>First, <em>listen</em>.</p><ul><li>Train</li><li>Build &amp; repair</li></ul><br/>'
      when not s.odd or p.i % 43 <> 6 then 'Train ' || (2 + ${pick('p.id', 305, 12)}) || ' local coordinators, buy material, report every quarter.' end,
    case when ${pick('p.id', 306, 40)} = 0 then 'Transfers to this country may take longer than usual.' end,
    case when ${pick('p.id', 307, 3)} = 0 then s.base_url || '/files/' || p.id || '/plan.pdf' end,
    case when ${pick('p.id', 308, 4)} = 0 then 'Programme office' end,
    case when ${pick('p.id', 308, 4)} = 0 then 'Coordinator' end,
    (1 + ${pick('p.id', 309, 300)})::text || ' Market Road', p.place, p.place || ' Province',
    lpad(${pick('p.id', 310, 100000)}::text, 5, '0'), ${chosen('name')},
    case when p.organisation_id is not null then ${organisationPage('p.organisation_id')} end,
    s.base_url || '/projects/' || p.slug || '/', s.base_url || '/projects/' || p.slug || '/updates/',
    (${textArrayLiteral(themeNames)})[p.theme + 1], ${chosen('name')}, ${chosen('code')}, ${chosen('region')},
    g.goal, m.funding, greatest(g.goal - m.funding, 0), m.donations, coalesce(r.reports, 0), r.latest,
    s.base_url || '/img/' || p.id || '/original.' || s.picture, p.title, ${galleryPhotos('p.id')},
    case when w.located then round((${chosen('latitude')})::numeric + (${pick('p.id', 311, 20001)} - 10000) / 20000.0, 5) end,
    case when w.located then round((${chosen('longitude')})::numeric + (${pick('p.id', 312, 20001)} - 10000) / 20000.0, 5) end,
    case when w.dated then ${day('p.approved')} + interval '9 hours 30 minutes' end,
    case when w.dated or ${pick('p.id', 313, 2)} = 0
      then least(greatest(${day('m.last_on')} + interval '6 hours', r.latest), ${day('s.today')}) end,
    case when p.status = 'active' and ${pick('p.id', 314, 5)} < 2 then s.today + 10 + ${pick('p.id', 315, 400)}
      when p.status <> 'active' and ${pick('p.id', 314, 5)} < 2
        then least((p.end_month + interval '1 month')::date + ${pick('p.id', 315, 60)}, s.today - 1) end,
    case when ${pick('p.id', 316, 12)} = 0 then 'country' else 'point' end, s.source, p.approved,
    case when ${pick('p.id', 340, 9)} = 0 then floor(g.goal * 0.8) end,
    case when p.theme = ${disasterTheme} and ${pick('p.id', 341, 3)} > 0
      then (array['FL', 'EQ', 'TC', 'DR'])[${pick('p.id', 342, 4)} + 1] || to_char(p.approved, '-YYYY-')
        || lpad((1 + ${pick('p.id', 343, 250)})::text, 6, '0') || '-' || (${chosen('alpha3')}) end,
    case when w.located and ${pick('p.id', 344, 4)} > 0 then p.place end
  from seed_plan p cross join seed_setting s
  join (
    select project_id, sum(amount) filter (where kind <> 'fee') as funding,
      sum(count) filter (where kind in ('gift', 'opening')) as donations, max(last_on) as last_on
    from seed_month group by project_id
  ) m on m.project_id = p.id
  left join (select project_id, count(*) as reports, max(published_at) as latest from seed_report group by project_id) r
    on r.project_id = p.id,
  lateral (select case when p.status = 'funded' then greatest(floor(m.funding / 100) * 100, least(50, m.funding))
    when not s.odd or ${pick('p.id', 317, 97)} > 0 and not (p.theme = ${disasterTheme} and ${pick('p.id', 345, 4)} = 0) then p.target end as goal) g,
  lateral (select ${pick('p.id', 318, 10)} > 0 as located, not s.odd or p.status <> 'retired' or ${pick('p.id', 319, 8)} > 0 as dated) w`

function galleryPhotos(id: string): string {
  return pick(id, 330, 4)
}

// Some renditions have a format that IATI does not list.
const size = (name: string) =>
  name === 'large'
    ? `a.address || 'large' || case when s.odd and ${pick('p.id * 10 + k', 331, 12)} = 0 then '.webp' else '.' || s.picture end`
    : `a.address || '${name}.' || s.picture`

/** Lists of the planned projects. */
export const insertProjectParts = [
  // Shares of exactly 100, or none at all.
  `insert into project_country (project_id, position, country_code, share)
   select p.id, k, ${countryAfter('p.country')},
     case when n.countries > 1 and ${pick('p.id', 322, 2)} = 0
       then (array[array[60, 40, 0, 0], array[50, 30, 20, 0], array[33.34, 33.33, 33.33, 0], array[40, 30, 20, 10]])[
         case when n.countries = 4 then 4 when n.countries = 3 then 2 + ${pick('p.id', 323, 2)} else 1 end][k + 1] end
   from seed_plan p cross join seed_setting s,
     lateral (select least(greatest(1, ${pick('p.id', 321, 9)} - 4), jsonb_array_length(s.countries)) as countries) n, generate_series(0, n.countries - 1) k`,
  `insert into project_theme (project_id, position, theme_id)
   select p.id, k, (${textArrayLiteral(themeIds)})[(p.theme + k * 9) % ${themeIds.length} + 1]
   from seed_plan p, generate_series(0, ${pick('p.id', 324, 3)}) k`,
  `insert into project_sdg (project_id, code)
   select p.id, code from seed_plan p, jsonb_array_elements_text((${literal(JSON.stringify(themeIds.map((id) => themeWords[id]?.slice(1) ?? [])))}::jsonb) -> p.theme) code
   where ${pick('p.id', 346, 3)} > 0 order by p.id, code`,
  `insert into photo (project_id, position, wire_id, title, small_url, thumbnail_url, medium_url, large_url,
     extra_large_url, original_url, consent, taken_on)
   select p.id, k, case when k = 0 then 0 else p.id * 10 + k end,
     case when k = 0 then p.title when k < 3 then p.place || ', picture ' || k end,
     ${['small', 'thumb', 'medium', 'large', 'xl', 'original'].map(size).join(', ')},
     ${pick('p.id * 10 + k', 325, 3)} < 2, case when ${pick('p.id * 10 + k', 326, 3)} = 0 then p.start_month + k end
   from seed_plan p cross join seed_setting s, generate_series(0, ${galleryPhotos('p.id')}) k,
     lateral (select s.base_url || '/img/' || p.id || '/' || case when k = 0 then '' else k || '-' end as address) a`,
  `insert into video (project_id, position, url)
   select p.id, k, case when s.odd then 'https://video.example/watch?v=' || p.id || '&part=' || k
     else s.base_url || '/videos/' || p.id || '-' || k || '/' end
   from seed_plan p cross join seed_setting s, generate_series(0, ${pick('p.id', 327, 3)} - 1) k where ${pick('p.id', 328, 5)} = 0`,
  `insert into donation_option (project_id, position, amount, description)
   select p.id, k, (array[10, 25, 100])[k + 1] * (1 + ${pick('p.id', 329, 3)}),
     case when k < 2 then (array['buys tools for a day', 'trains one person'])[k + 1] end
   from seed_plan p, generate_series(0, 2) k where p.status = 'active'`,
] as const
