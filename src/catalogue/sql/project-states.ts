import type { Notice } from '../../kernel/notice.js'
import type { ProjectStatus, RowSource } from '../../kernel/project.js'
import type { Db } from '../../platform/database/connection.js'

/** On the platform's site and open, taken off it, or closed. */
export const projectStates = ['active', 'inactive', 'retired'] as const
export type ProjectState = (typeof projectStates)[number]

/** SQL: the state of the row `alias` of the table project. */
const projectState = (alias: string): string =>
  `case when ${alias}.status = 'retired' then 'retired' when ${alias}.active then 'active' else 'inactive' end`

/**
 * SQL: whether the stored row `t` keeps its state against the record `excluded`, because an operator has set it. A
 * record that agrees with the operator is taken over whole: it may say that an active project is funded.
 */
export const keepsState = `(t.operator_state is not null and t.operator_state <> ${projectState('excluded')})`

export type ProjectStateRow = {
  readonly id: number
  /** The platform's own id. */
  readonly externalId?: string | undefined
  readonly title: string
  readonly state: ProjectState
  /** An operator has set the state. */
  readonly decided: boolean
  readonly source: RowSource
  readonly organizationId?: number | undefined
}

const stateColumns = `p.id, p.external_id, p.title, ${projectState('p')} as state,
  p.operator_state is not null as decided, p.source, p.organisation_id as organization_id`

/** `notice`: the code of a notice that the newest mapping has about the project. */
export type ProjectStateFilter = {
  readonly state?: ProjectState
  readonly organizationId?: number
  readonly notice?: string
}

/** Up to `limit` projects with ids above `after`, by id. */
export async function listProjectStates(
  db: Db,
  { state, organizationId, notice }: ProjectStateFilter,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<ProjectStateRow[]> {
  const { rows } = await db.query<ProjectStateRow>(
    `select ${stateColumns} from project p
      where p.id > $1 and ($2::text is null or ${projectState('p')} = $2)
        and ($3::bigint is null or p.organisation_id = $3)
        and ($4::text is null or exists (select from rendering r where r.project_id = p.id and r.notice_counts ? $4))
      order by p.id limit $5`,
    [after, state ?? null, organizationId ?? null, notice ?? null, limit],
  )
  return rows
}

/** What an operator asks about one project. */
export type ProjectStateDetails = ProjectStateRow & {
  readonly active: boolean
  readonly status: ProjectStatus
  readonly paused: boolean
  readonly organizationName?: string | undefined
  readonly firstSeenOn: string
  /** Its IATI identifier, if it was ever published. */
  readonly identifier?: string | undefined
  /** When the published activity last changed. */
  readonly lastUpdatedAt?: Date | undefined
  /** The next publication renders it again. */
  readonly stale: boolean
  /** The first few of the newest mapping, worst first. */
  readonly notices: readonly Notice[]
}

/** Undefined when the store has no such project. */
export async function findProjectState(db: Db, id: number): Promise<ProjectStateDetails | undefined> {
  const { rows } = await db.query<ProjectStateDetails>(
    `select ${stateColumns}, p.active, p.status, p.paused, o.name as organization_name, p.first_seen_on,
        i.identifier, r.last_updated_at, coalesce(v.dirty, true) as stale,
        coalesce(r.notices, '[]') as notices
      from project p left join organisation o on o.id = p.organisation_id
        left join project_version v on v.project_id = p.id left join rendering r on r.project_id = p.id
        left join published_identifier i on i.project_id = p.id
      where p.id = $1`,
    [id],
  )
  return rows[0]
}

/**
 * Overrides the state of a project for an operator. A funded project stays funded unless it is retired. Returns
 * whether anything changed; a trigger then marks the project.
 */
export async function decideProjectState(db: Db, id: number, state: ProjectState): Promise<boolean> {
  const wanted = `($2::text, $2 = 'active', case when $2 = 'retired' then 'retired'
    when status = 'retired' then 'active' else status end)`
  const { rowCount } = await db.query(
    `update project set (operator_state, active, status) = row ${wanted}
      where id = $1 and (operator_state, active, status) is distinct from ${wanted}`,
    [id, state],
  )
  return rowCount > 0
}

/**
 * Removes the override: records set the project's state again. Its hash is removed, so that its next record is saved even when that is
 * the one that the store already has. Returns whether an operator had decided.
 */
export async function undecideProjectState(db: Db, id: number): Promise<boolean> {
  const { rowCount } = await db.query(
    'update project set operator_state = null, source_hash = null where id = $1 and operator_state is not null',
    [id],
  )
  return rowCount > 0
}

/** The projects among these whose records state another state than the operator's override, which they keep. */
export async function listKeptStates(
  db: Db,
  records: readonly { readonly id: number; readonly active: boolean; readonly status: ProjectStatus }[],
): Promise<{ readonly id: number; readonly decided: ProjectState; readonly stated: ProjectState }[]> {
  const { rows } = await db.query<{ id: number; decided: ProjectState; stated: ProjectState }>(
    `select t.id, t.operator_state as decided, ${projectState('excluded')} as stated
      from project t join unnest($1::bigint[], $2::boolean[], $3::text[]) excluded (id, active, status) on excluded.id = t.id
      where ${keepsState} order by t.id`,
    [records.map(({ id }) => id), records.map(({ active }) => active), records.map(({ status }) => status)],
  )
  return rows
}
