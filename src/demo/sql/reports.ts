import { literal, oneOf, pick } from './sql.js'

/** Progress reports of a chunk's projects, gathered first: projects take their number and latest day from them. */
export const createReports = `
  create temporary table seed_report (id bigint, project_id bigint, k integer, published_at timestamptz) on commit drop`

const titles = ['Work has begun', 'Half way there', 'A season of rain', 'Thank you!', 'New hands', 'Done & handed over']

/** Spread between the project's approval and its end, yesterday at the latest. */
export const insertPlannedReports = `
  insert into seed_report
  select s.first_report_id + p.i * 8 + k, p.id, k,
    (p.approved + (k + 1) * (least((p.end_month + interval '1 month')::date, s.today) - 1 - p.approved) / (p.reports + 1))::timestamp
      at time zone 'UTC' + make_interval(hours => ${pick('p.id + k', 501, 24)})
  from seed_plan p cross join seed_setting s, generate_series(0, p.reports - 1) k`

export const insertReports = [
  `insert into progress_report (id, project_id, title, author_name, published_at, updated_at, content_html, url, source)
   select r.id, r.project_id, ${oneOf(titles, 'r.id')} || case when r.id % 3 = 0 then ': ' || p.place else '' end,
     case when r.id % 5 > 0 then 'The team in ' || p.place end, r.published_at,
     r.published_at + case when r.id % 7 = 0 then interval '45 minutes' else interval '0' end,
     '<p>Dear friends, ' || (2 + ${pick('r.id', 510, 60)}) || ' families took part since the last report.</p>'
       || case when r.id % 4 = 1 then ${literal('<ul><li>Tools bought</li><li>Trainers <strong>hired</strong></li></ul><p>Costs &lt; budget &amp; on time.</p>')} else '' end
       || case when r.id % 11 = 2 then '<p dir="rtl">شكراً لكم جميعاً</p>' else '' end
       || case when r.id % 6 = 3 then E'<p>Next:\\n\\tfinish the roof.<br>See C:\\\\plans</p>' else '' end,
     s.base_url || '/projects/' || p.slug || '/updates/?subid=' || r.id, s.source
   from seed_report r join seed_plan p on p.id = r.project_id cross join seed_setting s order by r.id`,
  `insert into report_image (report_id, position, url, media_type)
   select r.id, n, s.base_url || '/img/' || r.project_id || '/r' || r.id || '-' || n || '.' || s.picture, case s.picture when 'png' then 'image/png' else 'image/jpeg' end
   from seed_report r cross join seed_setting s, generate_series(0, ${pick('r.id', 511, 3)} - 1) n order by r.id, n`,
] as const
