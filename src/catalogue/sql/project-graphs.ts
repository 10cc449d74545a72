import { columnFields, kindOf } from '../../kernel/nouns/field.js'
import { disbursementFields, payoutPlanFields } from '../../kernel/nouns/money.js'
import { projectFields } from '../../kernel/nouns/project.js'
import type { Project, ProjectGraph } from '../../kernel/project.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { withoutNulls } from '../../platform/database/without-nulls.js'
import { jsonList, selectFields } from './field-columns.js'
import { organisationJson } from './organisations.js'
import { photoColumns } from './photos.js'
import { reportColumns, toReport } from './progress-reports.js'
import { themeColumns } from './reference-lists.js'

/** SQL: the organisation `o` as a party to a transaction; null when there is none. */
const party = `case when o.id is not null then
  json_build_object('id', o.id, 'name', o.name, 'ein', o.ein, 'orgRef', o.org_ref, 'orgType', o.org_type,
    'language', o.language, 'texts', o.texts) end`

// The JSON has the shape of `ProjectGraph`. One statement for a batch costs one answer of the server instead of a dozen,
// and is a snapshot by itself.
const selectGraphs = `
  select p.id, (select row_to_json(g)::text from (select
    v.version,
    (select row_to_json(t) from (select ${selectFields(projectFields, 'p')}) t) as project,
    ${organisationJson('p.organisation_id')} as organisation,
    ${jsonList(`select code, name, share::text from project_country join country on code = country_code
      where project_id = p.id order by position`)} as countries,
    ${jsonList(`select ${themeColumns} from project_theme join theme on id = theme_id
      where project_id = p.id order by position`)} as themes,
    ${jsonList(`select m.month, m.currency, m.kind, m.source, m.amount::text, m.count, m.last_on as "lastOn",
        ${party} as funder
      from donation_month m left join organisation o on o.id = m.funder_id where m.project_id = p.id
      order by m.month, m.currency collate "C", m.kind collate "C", m.source collate "C", m.funder_id nulls first`)}
      as months,
    ${jsonList(`select ${selectFields(disbursementFields, 'd')}, ${party} as receiver,
        case when d.original_amount is not null then json_build_object('amount', d.original_amount::text,
          'currency', d.original_currency) end as original
      from disbursement d left join organisation o on o.id = d.receiver_id where d.project_id = p.id
      order by d.disbursed_on, d.reference collate "C"`)} as disbursements,
    ${jsonList(`select ${selectFields(payoutPlanFields, 'payout_plan')} from payout_plan
      where project_id = p.id order by planned_on, reference collate "C"`)} as "payoutPlan",
    array(select code from project_sdg where project_id = p.id order by code collate "C") as sdgs,
    ${jsonList(`select ${photoColumns} from photo f where f.project_id = p.id order by f.position`)} as photos,
    array(select url from video where project_id = p.id order by position) as videos,
    ${jsonList('select amount::text, description from donation_option where project_id = p.id order by position')}
      as "donationOptions",
    ${jsonList(`select ${reportColumns} from progress_report r where r.project_id = p.id
      order by r.published_at desc, r.id desc`)} as reports,
    (select row_to_json(k) from (select text, moved_on as "movedOn", file, line,
        own_number as "ownNumber", formerly from kept_activity where project_id = p.id) k) as kept
  ) g) as source
  from project p join project_version v on v.project_id = p.id
  where p.id = any (${asSubselect('$1::bigint[]')}::bigint[])`

/** A project's graph as unread JSON, for `toProjectGraph`. */
export type GraphSource = string

/** What the published texts of these projects are made from, by id, in one snapshot; unknown ids are left out. */
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

const instants = columnFields(projectFields).flatMap((one) =>
  kindOf(one) === 'instant' ? [one.field as 'approvedDate'] : [],
)

/** Reads what `graphSources` selected of one project. */
export function toProjectGraph(source: GraphSource): ProjectGraph {
  const graph = withoutNulls(JSON.parse(source) as ProjectGraph)
  const project: { -readonly [Name in keyof Project]: Project[Name] } = graph.project
  for (const name of instants) {
    const text = project[name]
    if (text !== undefined) project[name] = new Date(text)
  }
  graph.reports.forEach(toReport)
  return graph
}
