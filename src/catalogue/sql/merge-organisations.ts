import type { IsoDate } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { RowSource } from '../../kernel/project.js'
import type { Db } from '../../platform/database/connection.js'

/** What pointed at the organisation that went. */
export type Merged = {
  readonly projects: number
  readonly months: number
  readonly gifts: number
  readonly payouts: number
}

/**
 * Makes everything that points at an organisation point at another one, which takes over the identifiers that it lacks, and
 * removes the first. Throws `not-found`, and `input-unusable` where the two cannot be one.
 */
export async function mergeOrganisations(db: Db, kept: number, gone: number): Promise<Merged> {
  await refuseDifferent(db, kept, gone)
  const { rowCount: projects } = await db.query('update project set organisation_id = $1 where organisation_id = $2', [
    kept,
    gone,
  ])
  const { rowCount: months } = await db.query(
    `with gone as (delete from donation_month where funder_id = $2 returning *)
      insert into donation_month as t (project_id, month, currency, kind, source, funder_id, amount, count, last_on, itemised)
      select project_id, month, currency, kind, source, $1, amount, count, last_on, itemised from gone
      order by project_id, month
      on conflict (project_id, month, currency, kind, source, funder_id) do update
        set amount = t.amount + excluded.amount, count = t.count + excluded.count,
          last_on = greatest(t.last_on, excluded.last_on), itemised = t.itemised + excluded.itemised`,
    [kept, gone],
  )
  await db.query(
    `with gone as (delete from imported_month where funder_id = $2 returning *)
      insert into imported_month (project_id, month, kind, funder_id, origin)
      select project_id, month, kind, $1, origin from gone on conflict (project_id, month, kind, funder_id) do nothing`,
    [kept, gone],
  )
  const { rowCount: gifts } = await db.query('update imported_gift set funder_id = $1 where funder_id = $2', [
    kept,
    gone,
  ])
  const { rowCount: payouts } = await db.query('update disbursement set receiver_id = $1 where receiver_id = $2', [
    kept,
    gone,
  ])
  await takeIdentifiers(db, kept, gone)
  return { projects, months, gifts, payouts }
}

async function refuseDifferent(db: Db, kept: number, gone: number): Promise<void> {
  const found = await db.query<{ readonly id: number; readonly source: RowSource; readonly hasDonations: boolean }>(
    `select id, source, exists (select from donation d where d.funder_id = o.id) as has_donations
      from organisation o where id = any ($1::bigint[]) order by id for update`,
    [[kept, gone]],
  )
  // A month of one organisation is either of single gifts or a sum.
  const months = await db.query<{ readonly project: number; readonly month: IsoDate }>(
    `select g.project_id as project, g.month from imported_month g join imported_month k using (project_id, month, kind)
      where k.funder_id = $1 and g.funder_id = $2 and (k.origin = 'sum' or g.origin = 'sum') order by 1, 2 limit 1`,
    [kept, gone],
  )
  const missing = [kept, gone].find((id) => found.rows.every((row) => row.id !== id))
  if (missing !== undefined) throw new ServiceError('not-found', `there is no organisation ${missing}`)
  const { source, hasDonations } = found.rows.find(({ id }) => id === gone) ?? {}
  const [both] = months.rows
  const reason =
    kept === gone
      ? `expected two organisations, got ${kept} twice`
      : source === 'upstream'
        ? `organisation ${gone} is upstream: the next sync would bring it again`
        : hasDonations
          ? `donations that were made here name organisation ${gone}: it stays`
          : both &&
            `both give to project ${both.project} in ${both.month.slice(0, 7)}, and one of the two as a sum of the month: remove one first`
  if (reason !== undefined) throw new ServiceError('input-unusable', reason)
}

/** Removes an organisation, then gives its identifiers to the one that lacks them: they are unique. */
async function takeIdentifiers(db: Db, kept: number, gone: number): Promise<void> {
  const { rows } = await db.query<{
    readonly externalId: string | undefined
    readonly orgRef: string | undefined
    readonly orgType: string | undefined
    readonly ein: string | undefined
    readonly url: string | undefined
  }>(
    `delete from organisation where id = $1
      returning external_id, org_ref, org_type, ein, url`,
    [gone],
  )
  const [{ externalId = null, orgRef = null, orgType = null, ein = null, url = null } = {}] = rows
  await db.query(
    `update organisation set external_id = coalesce(external_id, $2), org_ref = coalesce(org_ref, $3),
        org_type = coalesce(org_type, $4), ein = coalesce(ein, $5), url = coalesce(url, $6) where id = $1`,
    [kept, externalId, orgRef, orgType, ein, url],
  )
}
