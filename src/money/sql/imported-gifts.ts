import type { IsoDate } from '../../kernel/dates.js'
import type { FieldProblem } from '../../kernel/errors.js'
import { type CurrencyCode, type Decimal, toMinorUnits } from '../../kernel/money.js'
import { listsOfEach } from '../../kernel/rows.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { type RowChange, upsert } from '../../platform/database/upsert.js'
import { changedMonths, keyOfMonth, type MonthKey } from './differing-months.js'

/** What is expected of the reference of a gift. */
export const newReference = 'a new one, or the values it came with before'

/** A single gift, or without `single` the sum of a month; refunds and fees too. */
export type ImportedGift = {
  readonly projectId: number
  readonly on: IsoDate
  /** The first day of its month. */
  readonly month: IsoDate
  readonly kind: 'gift' | 'refund' | 'fee'
  readonly amount: Decimal
  readonly count: number
  /** The organisation that gave; absent: the public. */
  readonly funderId: number | undefined
  /** Hashes in hexadecimal; `name` is the reference, for messages only. */
  readonly single?: { readonly referenceHash: string; readonly contentHash: string; readonly name: string }
}

type Saving = {
  readonly source: string
  readonly currency: CurrencyCode
  readonly importId: string
  /** Whether months of gifts that are known are summed again. */
  readonly repair?: boolean | undefined
  /** Whether a known reference with other values replaces what it said. */
  readonly correct?: boolean | undefined
}

/** What became of a gift; `differs`: it is known, and its month is not in the store as its gifts say. */
export type GiftOutcome = RowChange | FieldProblem | { readonly change: 'unchanged'; readonly differs: true }

/** A month as the store has it or this batch makes it; `origin` is undefined while only a project's record speaks of it. */
type Month = Omit<ImportedGift, 'single'> & {
  readonly origin?: 'references' | 'sum' | undefined
  /** The import that stated its sum. */
  readonly importId?: string | undefined
}

// The decimals of numeric(18, 3).
const places = 3

/**
 * Adds single gifts to the months of their projects, and sets months that are stated as sums; totals follow. The projects
 * must be locked. Of a single gift only hashes are kept.
 */
export async function saveGifts(db: Db, gifts: readonly ImportedGift[], saving: Saving): Promise<GiftOutcome[]> {
  if (gifts.length === 0) return []
  const known = await knownGifts(db, gifts)
  const stale = new Map<string, MonthKey>()
  const refilled: ImportedGift[] = []
  const corrected: ImportedGift[] = []
  const months = await storedMonths(db, gifts, saving)
  const ofKnown = gifts.filter(({ single }) => single && known.has(single.referenceHash))
  const differing = await changedMonths(
    db,
    ofKnown.map(({ projectId }) => projectId),
    saving,
  )
  const openings = await openingDays(db, gifts, saving.source)
  const counted: ImportedGift[] = []
  const [sums, origins]: [Month[], Month[]] = [[], []]
  const outcomes = gifts.map((gift): GiftOutcome => {
    const { single } = gift
    const before = single && known.get(single.referenceHash)
    if (single && before !== undefined) {
      if (before.content === single.contentHash) {
        if (!saving.repair) {
          const isThere = months.has(keyOfMonth(gift)) && !differing.has(keyOfMonth(gift))
          return isThere ? 'unchanged' : { change: 'unchanged', differs: true }
        }
        refilled.push(gift)
        stale.set(keyOfMonth(gift), gift)
        return 'unchanged'
      }
      const expected = newReference
      if (!saving.correct) return { field: 'reference', expected, got: single.name }
      if (!before.isWhole) return { field: 'reference', expected: `${expected}, which are not known`, got: single.name }
      const problem = monthProblem(months.get(keyOfMonth(gift)), gift, saving)
      if (problem) return problem
      for (const one of [before, gift]) stale.set(keyOfMonth(one), one)
      known.set(single.referenceHash, { ...gift, content: single.contentHash, isWhole: true })
      corrected.push(gift)
      return 'changed'
    }
    const opening = openings.get(gift.projectId)
    if (opening !== undefined && gift.on <= opening) {
      const expected = `a day after ${opening}, until which the total of the project's record counts`
      return { field: 'date', expected, got: gift.on }
    }
    const key = keyOfMonth(gift)
    const month = months.get(key)
    const problem = monthProblem(month, gift, saving)
    if (problem) return problem
    if (!single) {
      const stated = { ...gift, origin: 'sum', importId: saving.importId } as const
      months.set(key, stated)
      origins.push(stated)
      if (month && isSameSum(month, gift)) return 'unchanged'
      sums.push(stated)
      return month ? 'changed' : 'created'
    }
    if (!month) {
      const begun = { ...gift, origin: 'references' } as const
      months.set(key, begun)
      origins.push(begun)
    }
    known.set(single.referenceHash, { ...gift, content: single.contentHash, isWhole: true })
    counted.push(gift)
    return 'created'
  })
  if (origins.length > 0) await db.query(upsertOrigins, [JSON.stringify(origins.map(columnsOfOrigin))])
  if (sums.length > 0) await db.query(upsertMonths, [JSON.stringify(sums.map((sum) => columnsOfSum(sum, saving)))])
  await addGifts(db, counted, saving)
  await updateTotals(db, [...sums, ...counted])
  if (stale.size === 0) return outcomes
  await rewriteGifts(db, refilled, 'those without values')
  await rewriteGifts(db, corrected, 'all')
  const rewritten = await sumMonths(db, [...stale.values()], saving)
  for (const key of stale.keys()) differing.delete(key)
  return outcomes.map((outcome, index) => {
    const gift = gifts[index]
    return outcome === 'unchanged' && gift?.single && rewritten.has(keyOfMonth(gift)) ? 'changed' : outcome
  })
}

/** Why a gift cannot go into a month: it is already counted in another way. */
function monthProblem(month: Month | undefined, gift: ImportedGift, { importId }: Saving): FieldProblem | undefined {
  if (!month) return undefined
  const origin = gift.single ? 'references' : 'sum'
  const got = `${gift.kind} of ${gift.month.slice(0, 7)}`
  if (month.origin === undefined) {
    return { field: 'date', expected: "a month that no total of the project's record counts", got }
  }
  if (month.origin !== origin) {
    const expected =
      origin === 'sum' ? 'a month that has no single gifts yet' : 'a month that was not imported as a sum before'
    return { field: 'reference', expected, got }
  }
  if (origin === 'references' || month.importId !== importId) return undefined
  return { field: 'date', expected: 'one sum of each month, funder and kind', got }
}

function isSameSum(month: Month, { amount, count, on }: ImportedGift): boolean {
  return toMinorUnits(month.amount, places) === toMinorUnits(amount, places) && month.count === count && month.on === on
}

/** The months in which gifts are whose references have these hashes. */
export async function monthsOfGifts(
  db: Db,
  hashes: readonly string[],
): Promise<{ readonly project: number; readonly month: IsoDate }[]> {
  const { rows } = await db.query<{ project: number; month: IsoDate }>(
    `select distinct project_id as project, date_trunc('month', given_on)::date as month from imported_gift
      where given_on is not null and reference_hash in (select decode(w.hash, 'hex') from unnest($1::text[]) w (hash))`,
    [hashes],
  )
  return rows
}

/** What is known of a gift: the hash of its values, and unless these are not known, its month. */
type KnownGift = MonthKey & { readonly content: string; readonly isWhole: boolean }

async function knownGifts(db: Db, gifts: readonly ImportedGift[]): Promise<Map<string, KnownGift>> {
  const hashes = gifts.flatMap(({ single }) => single?.referenceHash ?? [])
  if (hashes.length === 0) return new Map()
  const { rows } = await db.query<KnownGift & { readonly reference: string }>(
    `select encode(reference_hash, 'hex') as reference, encode(content_hash, 'hex') as content, given_on is not null as is_whole,
        project_id, date_trunc('month', given_on)::date as month, kind, funder_id from imported_gift
      where reference_hash in (select decode(w.hash, 'hex') from unnest($1::text[]) w (hash))`,
    [hashes],
  )
  return new Map(rows.map((row) => [row.reference, row]))
}

async function storedMonths(db: Db, gifts: readonly ImportedGift[], saving: Saving): Promise<Map<string, Month>> {
  const wanted = [...new Map(gifts.map((gift) => [`${gift.projectId} ${gift.month}`, gift])).values()]
  const { rows } = await db.query<Month>(
    `select m.project_id, m.month, m.kind, m.funder_id, m.amount, m.count, m.last_on as on, i.origin, i.import_id
      from donation_month m left join imported_month i on (i.project_id, i.month, i.kind) = (m.project_id, m.month, m.kind)
        and i.funder_id is not distinct from m.funder_id
      where (m.project_id, m.month) in (select * from unnest($1::bigint[], $2::date[])) and m.source = $3 and m.currency = $4`,
    [wanted.map(({ projectId }) => projectId), wanted.map(({ month }) => month), saving.source, saving.currency],
  )
  return new Map(rows.map((row) => [keyOfMonth(row), row]))
}

/** The day of the opening total of each of these projects that has one of this source. */
async function openingDays(db: Db, gifts: readonly ImportedGift[], source: string): Promise<Map<number, IsoDate>> {
  const { rows } = await db.query<{ id: number; day: IsoDate }>(
    `select project_id as id, max(last_on) as day from donation_month
      where project_id = any (${asSubselect('$1::bigint[]')}::bigint[]) and source = $2 and kind = 'opening' group by project_id`,
    [[...new Set(gifts.map(({ projectId }) => projectId))], source],
  )
  return new Map(rows.map(({ id, day }) => [id, day]))
}

const upsertMonths = upsert({
  table: 'donation_month',
  key: ['project_id', 'month', 'currency', 'kind', 'source', 'funder_id'],
  columns: ['amount', 'count', 'last_on'],
})

const upsertOrigins = upsert({
  table: 'imported_month',
  key: ['project_id', 'month', 'kind', 'funder_id'],
  columns: ['origin', 'import_id'],
})

const totalsOfProjects = `
  update project p set funding = m.amount, number_of_donations = greatest(m.count, 0),
    remaining = case when p.goal is null then p.remaining else greatest(p.goal - m.amount, 0) end
  from (
    select g.id as project_id, coalesce(sum(d.amount), 0) as amount,
      coalesce(sum(case when d.kind = 'refund' then -d.count else d.count end), 0) as count
    from (select distinct unnest($1::bigint[]) as id) g left join donation_month d on d.project_id = g.id and d.kind <> 'fee'
    group by g.id
  ) m
  where p.id = m.project_id and (p.funding, p.number_of_donations) is distinct from (m.amount, greatest(m.count, 0))`

async function updateTotals(db: Db, changed: readonly { readonly projectId: number }[]): Promise<void> {
  if (changed.length > 0) await db.query(totalsOfProjects, [changed.map(({ projectId }) => projectId)])
}

function columnsOfMonth({ projectId, month, kind, funderId }: MonthKey) {
  return { project_id: projectId, month, kind, funder_id: funderId }
}

function columnsOfOrigin(month: Month) {
  return { ...columnsOfMonth(month), origin: month.origin, import_id: month.importId }
}

function columnsOfSum(sum: Month, { source, currency }: Saving) {
  return { ...columnsOfMonth(sum), currency, source, amount: sum.amount, count: sum.count, last_on: sum.on }
}

const rowsOfGifts = `unnest($1::text[], $2::text[], $3::bigint[], $4::date[], $5::text[], $6::numeric[], $7::integer[], $8::bigint[])
  w (reference, content, project, day, kind, amount, count, funder)`

/** Writes new single gifts, and adds them to their months. */
async function addGifts(db: Db, gifts: readonly ImportedGift[], { source, currency }: Saving): Promise<void> {
  if (gifts.length === 0) return
  await db.query(
    `with given as (
        insert into imported_gift (reference_hash, content_hash, project_id, given_on, kind, amount, count, funder_id)
        select decode(w.reference, 'hex'), decode(w.content, 'hex'), w.project, w.day, w.kind, w.amount, w.count, w.funder
        from ${rowsOfGifts} order by 1
        returning project_id, date_trunc('month', given_on)::date as month, kind, funder_id, amount, count, given_on
      )
      insert into donation_month as t (project_id, month, currency, kind, source, funder_id, amount, count, last_on)
      select project_id, month, $9, kind, $10, funder_id, sum(amount), sum(count), max(given_on) from given
      group by project_id, month, kind, funder_id order by project_id, month, kind, funder_id
      on conflict (project_id, month, currency, kind, source, funder_id) do update set amount = t.amount + excluded.amount,
        count = t.count + excluded.count, last_on = greatest(t.last_on, excluded.last_on)`,
    [...columnsOfGifts(gifts), currency, source],
  )
}

/** Gives known gifts the values of their rows. */
async function rewriteGifts(
  db: Db,
  gifts: readonly ImportedGift[],
  which: 'all' | 'those without values',
): Promise<void> {
  if (gifts.length === 0) return
  await db.query(
    `update imported_gift g set content_hash = decode(w.content, 'hex'), project_id = w.project, given_on = w.day,
        kind = w.kind, amount = w.amount, count = w.count, funder_id = w.funder
      from ${rowsOfGifts}
      where g.reference_hash = decode(w.reference, 'hex') and ($9 or g.given_on is null)`,
    [...columnsOfGifts(gifts), which === 'all'],
  )
}

/** Removes sums of months, named as in a file of gifts: project, month, kind, and the funder where it is not the public. */
export async function removeMonthSums(db: Db, keys: readonly string[], saving: Saving): Promise<void> {
  const months = keys.map((key): MonthKey => {
    const [project, month = '', kind, funder] = key.split(' ')
    return {
      projectId: Number(project),
      month: month as IsoDate,
      kind: kind as ImportedGift['kind'],
      funderId: funder ? Number(funder) : undefined,
    }
  })
  await sumMonths(db, months, saving)
}

function columnsOfGifts(gifts: readonly ImportedGift[]): unknown[] {
  return [
    gifts.map(({ single }) => single?.referenceHash),
    gifts.map(({ single }) => single?.contentHash),
    ...listsOfEach(gifts, 'projectId', 'on', 'kind', 'amount', 'count', 'funderId'),
  ]
}

/**
 * Makes months of single gifts the sums of these gifts again; a month without any goes. Months of projects that have gifts
 * whose values are not known stay. Returns the keys of months that changed.
 */
async function sumMonths(db: Db, months: readonly MonthKey[], { source, currency }: Saving): Promise<Set<string>> {
  const { rows } = await db.query<MonthKey>(
    `with summed as (
        select w.project_id, w.month, w.kind, w.funder_id, sum(g.amount) as amount, sum(g.count)::integer as count,
          max(g.given_on) as last_on
        from json_populate_recordset(null::imported_month, $1::json) w
          left join imported_gift g on g.project_id = w.project_id and g.kind = w.kind
            and date_trunc('month', g.given_on) = w.month and g.funder_id is not distinct from w.funder_id
        where not exists (select from imported_gift o where o.project_id = w.project_id and o.given_on is null)
        group by w.project_id, w.month, w.kind, w.funder_id
      ), written as (
        insert into donation_month as t (project_id, month, currency, kind, source, funder_id, amount, count, last_on)
        select project_id, month, $2, kind, $3, funder_id, amount, count, last_on from summed
        where amount is not null order by project_id, month
        on conflict (project_id, month, currency, kind, source, funder_id) do update
          set amount = excluded.amount, count = excluded.count, last_on = excluded.last_on
          where (t.amount, t.count, t.last_on) is distinct from (excluded.amount, excluded.count, excluded.last_on)
        returning t.project_id, t.month, t.kind, t.funder_id
      ), gone as (
        delete from donation_month t using summed s
        where s.amount is null and (t.project_id, t.month, t.kind, t.currency, t.source) = (s.project_id, s.month, s.kind, $2, $3)
          and t.funder_id is not distinct from s.funder_id
        returning t.project_id, t.month, t.kind, t.funder_id
      ), stated as (
        insert into imported_month (project_id, month, kind, funder_id, origin)
        select project_id, month, kind, funder_id, 'references' from summed where amount is not null
        on conflict do nothing
      ), forgotten as (
        delete from imported_month t using summed s
        where s.amount is null and (t.project_id, t.month, t.kind) = (s.project_id, s.month, s.kind)
          and t.funder_id is not distinct from s.funder_id
      )
      select project_id, month, kind, funder_id from written union all select project_id, month, kind, funder_id from gone`,
    [JSON.stringify(months.map(columnsOfMonth)), currency, source],
  )
  await updateTotals(db, months)
  return new Set(rows.map(keyOfMonth))
}

/** What the store knows of a single gift that was imported. */
export type StoredGift = {
  readonly project: number
  readonly date?: IsoDate
  readonly kind?: ImportedGift['kind']
  readonly amount?: Decimal
  readonly count?: number
  readonly funder?: number
}

/** The gift whose reference has this hash, in hexadecimal. */
export async function findGift(db: Db, referenceHash: string): Promise<StoredGift | undefined> {
  const { rows } = await db.query<StoredGift>(
    `select project_id as project, given_on as date, kind, amount, count, funder_id as funder from imported_gift
      where reference_hash = decode($1, 'hex')`,
    [referenceHash],
  )
  return rows[0]
}

/** Removes a single gift whose values are known from its month, and from the totals of its project. */
export async function removeGift(db: Db, referenceHash: string, saving: Saving): Promise<void> {
  const { rows } = await db.query<MonthKey & { readonly isWhole: boolean }>(
    `delete from imported_gift where reference_hash = decode($1, 'hex')
      returning project_id, date_trunc('month', given_on)::date as month, kind, funder_id, given_on is not null as is_whole`,
    [referenceHash],
  )
  const months = rows.filter(({ isWhole }) => isWhole)
  await sumMonths(db, months, saving)
}
