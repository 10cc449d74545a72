import type { Store } from '../../src/platform/database/store.js'
import { mappingConfig, seededDay } from '../suite/settings.js'

// The same rows to a document with the same parts by PostgreSQL's own XML functions, stored in an ordinary table. It checks
// nothing and ignores HTML in texts, shares that must add up and future days.

const ref = mappingConfig.reportingOrg.ref
const publisher = mappingConfig.reportingOrg.name

const narrative = (name: string, text: string, attributes = '') =>
  `xmlelement(name "${name}", ${attributes === '' ? '' : `xmlattributes(${attributes}), `}xmlelement(name narrative, ${text}))`
const platform = (name: string, link: string) =>
  narrative(name, `'${publisher}'`, `p.identifier as "${link}", '${ref}' as ref, '22' as type`)

const transaction = (reference: string, type: string, day: string, words: string, parties: string) => `
  xmlelement(name transaction, xmlattributes(${reference} as ref),
    xmlelement(name "transaction-type", xmlattributes(${type} as code)),
    xmlelement(name "transaction-date", xmlattributes(${day} as "iso-date")),
    xmlelement(name value, xmlattributes(currency as currency, ${day} as "value-date"), round(amount, 2)),
    ${narrative('description', words)}, ${parties})`

const monthTransaction = transaction(
  `case kind when 'fee' then 'fee-' when 'refund' then 'ref-' else 'don-' end || p.id || '-' || to_char(month, 'YYYY-MM') || '-' || currency`,
  `case when kind = 'fee' then '4' else '1' end`,
  `least((month + interval '1 month')::date - 1, date '${seededDay}')`,
  `case when kind = 'fee' then 'Platform and payment fees in ' else count || ' donations in ' end || to_char(month, 'YYYY-MM')`,
  `case when kind = 'fee' then ${platform('provider-org', 'provider-activity-id')} else xmlconcat(
      ${narrative('provider-org', `'Individual donors through ${publisher}'`, `'90' as type`)},
      ${platform('receiver-org', 'receiver-activity-id')}) end`,
)

const payoutTransaction = transaction(
  'reference',
  `'3'`,
  'disbursed_on',
  `'Payout to the implementing partner'`,
  `${platform('provider-org', 'provider-activity-id')}, ${narrative('receiver-org', 'o.name', `'22' as type`)}`,
)

const documentLink = (address: string, title: string, category: string) => `
  xmlelement(name "document-link", xmlattributes(${address} as url, 'text/html' as format),
    ${narrative('title', title)}, xmlelement(name category, xmlattributes('${category}' as code)),
    xmlelement(name language, xmlattributes('en' as code)))`

const defaults = [
  ['default-flow-type', '30'],
  ['default-finance-type', '110'],
  ['default-aid-type', 'C01'],
  ['default-tied-status', '5'],
]
  .map(([name, code]) => `xmlelement(name "${name}", xmlattributes('${code}' as code))`)
  .join(', ')

const activity = `
  xmlelement(name "iati-activity", xmlattributes('2026-11-21T02:00:00Z' as "last-updated-datetime", 'en' as "xml:lang",
      '${mappingConfig.currency}' as "default-currency", '0' as humanitarian, '1' as hierarchy),
    xmlelement(name "iati-identifier", p.identifier),
    ${narrative('reporting-org', `'${publisher}'`, `'${ref}' as ref, '22' as type, '0' as "secondary-reporter"`)},
    ${narrative('title', 'p.title')},
    ${narrative('description', 'coalesce(p.summary, p.title)', `'1' as type`)},
    ${narrative('description', `concat_ws(E'\\n', p.need, p.long_term_impact)`, `'2' as type`)},
    ${narrative('description', 'p.activities', `'4' as type`)},
    ${narrative('participating-org', `'Individual donors through ${publisher}'`, `'1' as role, '90' as type`)},
    ${narrative('participating-org', `'${publisher}'`, `'3' as role, '${ref}' as ref, '22' as type`)},
    case when o.id is not null then
      ${narrative('participating-org', 'o.name', `'4' as role, o.org_ref as ref, coalesce(o.org_type, '22') as type`)} end,
    xmlelement(name "other-identifier", xmlattributes(p.id as ref, 'A1' as type)),
    xmlelement(name "activity-status", xmlattributes(case p.status when 'active' then 2 when 'funded' then 3 else 4 end as code)),
    xmlelement(name "activity-date", xmlattributes(1 as type, p.approved_date::date as "iso-date")),
    xmlelement(name "activity-date", xmlattributes(2 as type, p.approved_date::date as "iso-date")),
    xmlelement(name "activity-date", xmlattributes(3 as type, p.deadline as "iso-date")),
    case when o.id is not null then xmlelement(name "contact-info", xmlattributes('1' as type),
      ${narrative('organisation', 'o.name')}, xmlelement(name website, p.project_link)) end,
    xmlelement(name "activity-scope", xmlattributes('4' as code)),
    (select xmlagg(xmlelement(name "recipient-country", xmlattributes(country_code as code, share as percentage)) order by position)
      from project_country where project_id = p.id),
    case when p.latitude is not null then xmlelement(name location,
      xmlelement(name "location-reach", xmlattributes('1' as code)),
      xmlelement(name point, xmlattributes('http://www.opengis.net/def/crs/EPSG/0/4326' as "srsName"),
        xmlelement(name pos, p.latitude || ' ' || p.longitude)),
      xmlelement(name exactness, xmlattributes('2' as code))) end,
    (select xmlconcat(
        xmlagg(xmlelement(name sector, xmlattributes('1' as vocabulary, sector_code as code, share as percentage)) order by position),
        xmlagg(xmlelement(name sector, xmlattributes('99' as vocabulary, '${mappingConfig.baseUrl}/#themes' as "vocabulary-uri",
          id as code, share as percentage), xmlelement(name narrative, name)) order by position))
      from (select t.*, position, round(100.0 / count(*) over (), 2) as share
        from project_theme join theme t on t.id = theme_id where project_id = p.id) themes),
    (select xmlagg(xmlelement(name tag, xmlattributes(case when code like '%.%' then '3' else '2' end as vocabulary, code as code))
      order by code) from project_sdg where project_id = p.id),
    ${defaults},
    case when p.goal is not null then xmlelement(name budget, xmlattributes('1' as type, '1' as status),
      xmlelement(name "period-start", xmlattributes(p.approved_date::date as "iso-date")),
      xmlelement(name "period-end", xmlattributes(coalesce(p.deadline, date '${seededDay}') as "iso-date")),
      xmlelement(name value, xmlattributes('${mappingConfig.currency}' as currency, p.approved_date::date as "value-date"), round(p.goal, 2))) end,
    (select xmlagg(xmlelement(name "planned-disbursement", xmlattributes('1' as type),
        xmlelement(name "period-start", xmlattributes(planned_on as "iso-date")),
        xmlelement(name "period-end", xmlattributes(planned_on as "iso-date")),
        xmlelement(name value, xmlattributes(currency as currency, planned_on as "value-date"), round(amount, 2)),
        ${platform('provider-org', 'provider-activity-id')}, ${narrative('receiver-org', 'o.name', `'22' as type`)})
        order by planned_on, reference)
      from payout_plan where project_id = p.id and planned_on > date '${seededDay}'),
    (select xmlagg(${monthTransaction} order by month, kind) from donation_month where project_id = p.id),
    (select xmlagg(${payoutTransaction} order by disbursed_on, reference) from disbursement where project_id = p.id),
    ${documentLink('p.project_link', 'p.title', 'A12')},
    case when p.additional_documentation is not null then
      ${documentLink('p.additional_documentation', `'Additional documentation: ' || p.title`, 'A02')} end,
    ${documentLink('p.progress_report_link', `'Progress reports: ' || p.title`, 'A08')})`

const build = `
  insert into sql_xml_rendering (project_id, text, bytes)
  select id, text, octet_length(text) from (
    select p.id, xmlserialize(content ${activity} as text) as text
    from (select *, '${ref}-' || id as identifier from project) p left join organisation o on o.id = p.organisation_id
    order by p.id) activities`

/** Creates the table for the documents; its texts are compressed as ours are. */
export async function prepareSqlXml({ db }: Store): Promise<void> {
  await db.query(
    'create table sql_xml_rendering (project_id bigint primary key, text text not null, bytes integer not null)',
  )
  await db.query('alter table sql_xml_rendering alter column text set storage external')
}

/** Renders every project by one statement; its table must be empty. */
export async function renderBySqlXml({ db }: Store): Promise<void> {
  await db.query(build)
}
