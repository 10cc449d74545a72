import type { ProjectGraph } from '../../domain/project.js'
import type { Db } from '../database/connection.js'
import { organisationJson, toCountry, toOrganisation, toTheme } from './organisation-graphs.js'
import { reportColumns, toReport } from './progress-reports.js'
import { type PartRows, type ProjectRow, toDisbursement, toMonth, toPhoto, toProject } from './project-rows.js'

/** SQL: the rows of a sorted subquery as one JSON array; null when there are none. */
const rowsOf = (query: string): string => `(select json_agg(t) from (${query}) t)`

const party = `o.id as party_id, o.name as party_name, o.ein as party_ein, o.org_ref as party_ref,
  o.org_type as party_type`

// Everything of a project as one JSON text: a statement a batch costs one answer of the server, where one a table would
// cost a dozen, and is a snapshot by itself; and a text goes to another thread for the price of its bytes. Amounts and
// coordinates are text in it, since numbers of JSON are not decimal.
const selectGraphs = `select g.id, row_to_json(g)::text as source from (
  select p.id, v.version, p.active, p.status, p.paused, p.type, p.title, p.summary, p.need,
    p.long_term_impact, p.activities, p.notice, p.additional_documentation, p.contact_name, p.contact_title,
    p.contact_address, p.contact_address2, p.contact_city, p.contact_state, p.contact_postal, p.contact_country,
    p.contact_url, p.project_link, p.progress_report_link, p.theme_name, p.country_name, p.country_code,
    p.region_name, p.goal::text, p.original_goal::text, p.funding::text, p.remaining::text, p.number_of_donations, p.number_of_reports,
    p.date_of_most_recent_report, p.image_link, p.image_title, p.image_gallery_size, p.latitude::text,
    p.longitude::text,
    p.approved_date, p.modified_date, p.deadline, p.glide_number, p.location_name, p.location_precision,
    p.first_seen_on, p.source,
    ${organisationJson('p.organisation_id')} as organisation,
    ${rowsOf(`select code, name, share::text from project_country join country on code = country_code
      where project_id = p.id order by position`)} as countries,
    ${rowsOf(`select id, name, sector_code, humanitarian from project_theme join theme on id = theme_id
      where project_id = p.id order by position`)} as themes,
    ${rowsOf(`select m.month, m.currency, m.kind, m.source, m.amount::text, m.count, m.last_on, ${party}
      from donation_month m left join organisation o on o.id = m.funder_id where m.project_id = p.id
      order by m.month, m.currency collate "C", m.kind collate "C", m.source collate "C", m.funder_id nulls first`)}
      as months,
    ${rowsOf(`select d.reference, d.disbursed_on, d.amount::text, d.currency, ${party}
      from disbursement d left join organisation o on o.id = d.receiver_id where d.project_id = p.id
      order by d.disbursed_on, d.reference collate "C"`)} as disbursements,
    ${rowsOf(`select reference, planned_on, amount::text, currency from payout_plan
      where project_id = p.id order by planned_on, reference collate "C"`)} as payout_plan,
    ${rowsOf(`select code from project_sdg where project_id = p.id order by code collate "C"`)} as sdgs,
    ${rowsOf(`select position, wire_id, title, small_url, thumbnail_url, medium_url, large_url, extra_large_url,
        original_url, consent, taken_on
      from photo where project_id = p.id order by position`)} as photos,
    ${rowsOf('select url from video where project_id = p.id order by position')} as videos,
    ${rowsOf('select amount::text, description from donation_option where project_id = p.id order by position')}
      as donation_options,
    ${rowsOf(`select ${reportColumns} from progress_report r where r.project_id = p.id
      order by r.published_at desc, r.id desc`)} as reports
  from project p join project_version v on v.project_id = p.id
  where p.id = any ($1::bigint[])) g`

/** A project's rows, as yet unread: JSON that `toProjectGraph` understands. */
export type GraphSource = string

/**
 * Everything that the published texts of these projects are made from, by id; unknown ids are left out. The parts agree:
 * one statement reads them all.
 */
export async function graphSources(db: Db, ids: readonly number[]): Promise<Map<number, GraphSource>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<{ id: number; source: GraphSource }>(selectGraphs, [ids], 'project-graphs')
  return new Map(rows.map(({ id, source }) => [id, source]))
}

/** As `graphSources`, read into graphs in the order of the ids given. */
export async function projectGraphs(db: Db, ids: readonly number[]): Promise<ProjectGraph[]> {
  const sources = await graphSources(db, ids)
  return ids.flatMap((id) => {
    const source = sources.get(id)
    return source === undefined ? [] : [toProjectGraph(source)]
  })
}

/** What `graphSources` read of one project. */
export function toProjectGraph(source: GraphSource): ProjectGraph {
  const row = JSON.parse(source) as ProjectRow & PartRows
  return {
    project: toProject(row),
    organisation: row.organisation ? toOrganisation(row.organisation) : undefined,
    countries: (row.countries ?? []).map((one) => ({ ...toCountry(one), ...(one.share && { share: one.share }) })),
    themes: (row.themes ?? []).map(toTheme),
    months: (row.months ?? []).map(toMonth),
    disbursements: (row.disbursements ?? []).map(toDisbursement),
    payoutPlan: (row.payout_plan ?? []).map(({ reference, planned_on, amount, currency }) => ({
      ...{ reference, plannedOn: planned_on, amount, currency },
    })),
    sdgs: (row.sdgs ?? []).map(({ code }) => code),
    photos: (row.photos ?? []).map(toPhoto),
    videos: (row.videos ?? []).map(({ url }) => url),
    donationOptions: (row.donation_options ?? []).map(({ amount, description }) => ({
      amount,
      ...(description !== null && { description }),
    })),
    reports: (row.reports ?? []).map(toReport),
    version: row.version,
  }
}
