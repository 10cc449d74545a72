import type { Db } from '../../../src/platform/database/connection.js'

/**
 * The worked example as rows: project 2045 with its organisation, pictures and reports, beside a funded
 * (inactive) project and an active one without anything optional.
 */
export async function storeWells(db: Db): Promise<void> {
  for (const statement of statements) await db.query(statement)
}

const image = 'https://giving.example/img/2045'
const updates = 'https://giving.example/projects/wells-for-tara/updates/'

const statements = [
  `insert into region (name) values ('Africa'), ('Asia and Oceania'), ('South/Central America and the Caribbean')`,
  `insert into country (code, name, region_name) values
    ('SL', 'Sierra Leone', 'Africa'), ('PE', 'Peru', 'South/Central America and the Caribbean')`,
  `insert into theme (id, name) values ('edu', 'Education'), ('water', 'Clean Water')`,
  `insert into organisation (id, bridge_id, name, address_line1, city, state, postal, country_code, country_name, url,
      logo_url, mission, vetted, source) values
    (318, 9007199254740993, 'Tara Water Trust', '12 Market Road', 'Bo', 'Southern', '00232', 'SL', 'Sierra Leone',
      'https://tarawater.example', 'https://giving.example/img/org/318.png', 'Safe water close to home.', true, 'local'),
    (319, null, 'Escuela & Campo', null, null, null, null, 'PE', 'Peru', null, null, null, false, 'local')`,
  `insert into organisation_theme values (318, 0, 'water')`,
  `insert into organisation_country values (318, 0, 'SL'), (319, 0, 'PE')`,
  `insert into project (id, organisation_id, active, status, title, summary, need, long_term_impact, activities,
      additional_documentation, contact_address, contact_city, contact_state, contact_postal, contact_country, contact_url,
      project_link, progress_report_link, theme_name, country_name, country_code, region_name, goal, funding,
      number_of_donations, number_of_reports, date_of_most_recent_report, image_link, image_gallery_size, approved_date,
      modified_date, first_seen_on, source) values
    (2045, 318, true, 'active', 'Wells for Tara', 'Four village wells in the Bo district.',
      'The only stream dries up from January to May.', 'Clean water for 900 people for at least fifteen years.',
      'Drill four wells and train two caretakers per village.', 'https://giving.example/files/2045/plan.pdf',
      '12 Market Road', 'Bo', 'Southern', '00232', 'Sierra Leone', 'https://tarawater.example',
      'https://giving.example/projects/wells-for-tara/', '${updates}', 'Clean Water', 'Sierra Leone', 'SL', 'Africa',
      8000, 1250, 37, 2, '2026-10-02T08:00:00Z', '${image}/original.jpg', 3, '2025-02-11T10:30:00Z',
      '2026-11-02T06:12:44Z', '2025-02-11', 'local'),
    (2046, 318, false, 'funded', 'Rain tanks', null, null, null, null, null, null, null, null, null, null, null, null, null,
      null, null, null, null, 3046, 3071, 12, null, null, null, null, null, null, '2025-02-11', 'local'),
    (2061, 319, true, 'active', 'Books for <Cusco>', 'A library on a mule''s back', null, null, null, null, null, null, null,
      null, null, null, null, null, null, 'Peru', 'PE', 'South/Central America and the Caribbean', 500, 0, 0, null, null,
      null, null, null, null, '2025-02-11', 'local')`,
  `insert into project_theme values (2045, 0, 'water'), (2046, 0, 'water'), (2061, 0, 'edu')`,
  `insert into project_country values (2045, 0, 'SL'), (2046, 0, 'SL'), (2061, 0, 'PE')`,
  `insert into donation_option values (2045, 0, 25, 'buys tools for one caretaker')`,
  `insert into photo values
    (2045, 0, 0, 'Wells for Tara', '${image}/small.jpg', '${image}/thumb.jpg', '${image}/medium.jpg', '${image}/large.jpg',
      '${image}/xl.jpg', '${image}/original.jpg', true, null),
    (2045, 1, 123, 'The pump', '${image}/p-small.jpg', null, null, '${image}/p-large.jpg', null, '${image}/p.jpg', true, null)`,
  `insert into progress_report (id, project_id, title, author_name, published_at, updated_at, content_html, url, source) values
    (9001, 2045, 'Two wells & a half', null, '2026-06-01T09:30:00Z', '2026-06-01T09:30:00Z', '<p>Digging.</p>',
      '${updates}?subid=9001', 'local'),
    (9002, 2045, 'Third well finished', 'Amina Sesay', '2026-10-02T08:00:00Z', '2026-10-02T08:00:00Z',
      '<p>The pump runs since Monday.</p>', '${updates}?subid=9002', 'local')`,
  `insert into report_image values (9002, 0, '${image}/r9002-1.jpg', 'image/jpeg')`,
] as const
