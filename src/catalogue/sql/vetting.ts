import type { RowSource } from '../../kernel/project.js'
import type { Db } from '../../platform/database/connection.js'

/** An organisation, and whether the operator vouches for it. */
export type VettingRow = {
  readonly id: number
  /** The platform's own id. */
  readonly externalId?: string | undefined
  readonly name: string
  readonly vetted: boolean
  readonly source: RowSource
  readonly projects: number
  readonly activeProjects: number
}

const vettingColumns = `o.id, o.external_id, o.name, o.vetted, o.source,
  (select count(*) from project p where p.organisation_id = o.id) as projects,
  (select count(*) from project p where p.organisation_id = o.id and p.active) as active_projects`

/** Up to `limit` organisations with ids above `after`, by id; of the vetted or unvetted ones only where that is given. */
export async function listVetting(
  db: Db,
  { vetted }: { readonly vetted?: boolean },
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<VettingRow[]> {
  const { rows } = await db.query<VettingRow>(
    `select ${vettingColumns} from organisation o where o.id > $1 and ($2::boolean is null or o.vetted = $2)
      order by o.id limit $3`,
    [after, vetted ?? null, limit],
  )
  return rows
}

/** What an operator asks about one organisation. */
export type VettingDetails = VettingRow & {
  readonly orgRef?: string | undefined
  readonly orgType?: string | undefined
  readonly ein?: string | undefined
  readonly url?: string | undefined
}

/** Undefined when the store has no such organisation. */
export async function findVetting(db: Db, id: number): Promise<VettingDetails | undefined> {
  const { rows } = await db.query<VettingDetails>(
    `select ${vettingColumns}, o.org_ref, o.org_type, o.ein, o.url
      from organisation o where o.id = $1`,
    [id],
  )
  return rows[0]
}

/** Records whether the operator vouches for an organisation. Returns whether that changed. */
export async function recordVetting(db: Db, id: number, vetted: boolean): Promise<boolean> {
  const { rowCount } = await db.query('update organisation set vetted = $2 where id = $1 and vetted <> $2', [
    id,
    vetted,
  ])
  return rowCount > 0
}
