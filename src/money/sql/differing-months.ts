import type { IsoDate } from '../../kernel/dates.js'
import type { CurrencyCode } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'
import { findFact } from '../../platform/database/facts.js'

/** What names a month of gifts; without a funder those of the public. */
export type MonthKey = {
  readonly projectId: number
  readonly month: IsoDate
  readonly kind: 'gift' | 'refund' | 'fee'
  readonly funderId?: number | undefined
}

export function keyOfMonth({ projectId, month, kind, funderId }: MonthKey): string {
  return [projectId, month, kind, funderId ?? ''].join(' ')
}

/** Which months: their source and currency. */
type MonthsOf = { readonly source: string; readonly currency: CurrencyCode }

/** Months of single gifts, of these projects or of all, that are not the sums of their gifts. */
async function differingMonths(
  db: Db,
  projects: readonly number[] | undefined,
  { source, currency }: MonthsOf,
): Promise<MonthKey[]> {
  const { rows } = await db.query<MonthKey>(
    `select g.project_id, g.month, g.kind, g.funder_id
      from (
        select project_id, date_trunc('month', given_on)::date as month, kind, funder_id, sum(amount) as amount,
          sum(count) as count, max(given_on) as last_on
        from imported_gift where $1::bigint[] is null or project_id = any ($1) group by 1, 2, 3, 4
      ) g left join donation_month m
        on (m.project_id, m.month, m.kind, m.source, m.currency) = (g.project_id, g.month, g.kind, $2, $3)
        and m.funder_id is not distinct from g.funder_id
      where (m.amount, m.count, m.last_on) is distinct from (g.amount, g.count, g.last_on)
        and ($1::bigint[] is null
          or not exists (select from imported_gift o where o.project_id = g.project_id and o.given_on is null))`,
    [projects ?? null, source, currency],
  )
  return rows
}

/** What an import has found out of the projects of gifts that it knows; each is looked at once. */
const examined = new WeakMap<object, { readonly projects: Set<number>; readonly differing: Set<string> }>()

/** The keys of months, of these projects and those before in the same import, that are not the sums of their gifts. */
export async function changedMonths(
  db: Db,
  ofKnown: readonly number[],
  saving: MonthsOf & { readonly repair?: boolean | undefined },
): Promise<Set<string>> {
  const { projects, differing } = examined.get(saving) ?? { projects: new Set<number>(), differing: new Set<string>() }
  examined.set(saving, { projects, differing })
  const fresh = new Set(ofKnown.filter((id) => !projects.has(id)))
  if (saving.repair || fresh.size === 0) return differing
  for (const month of await differingMonths(db, [...fresh], saving)) differing.add(keyOfMonth(month))
  for (const id of fresh) projects.add(id)
  return differing
}

/** What moves when a stored gift changes; gifts that are added do not move it. */
export async function giftVersion(db: Db): Promise<number> {
  return Number((await findFact(db, 'gift-turn')) ?? 0)
}

/** Whether each month of single gifts is their sum, and what they belong to is as it was when they came. */
export async function areGiftsWhole(db: Db, saving: MonthsOf): Promise<boolean> {
  const { rows } = await db.query(
    `select from imported_month i join project p on p.id = i.project_id
      where p.source in ('upstream', 'demo')
        or (i.funder_id is not null and not exists (select from organisation o where o.id = i.funder_id)) limit 1`,
  )
  return rows.length === 0 && (await differingMonths(db, undefined, saving)).length === 0
}
