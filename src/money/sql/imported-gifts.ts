import { type IsoDate, later } from '../../kernel/dates.js'
import type { FieldProblem } from '../../kernel/errors.js'
import { type CurrencyCode, type Decimal, fromMinorUnits, toMinorUnits } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'
import { type RowChange, upsert } from '../../platform/database/upsert.js'

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

type Saving = { readonly source: string; readonly currency: CurrencyCode; readonly importId: string }

/** A month as it will be; `origin` is undefined while only a project's record speaks of it. */
type Month = {
  readonly projectId: number
  readonly month: IsoDate
  readonly kind: ImportedGift['kind']
  readonly funderId: number | undefined
  amount: bigint
  count: number
  lastOn: IsoDate
  origin: 'references' | 'sum' | undefined
  importId: string | undefined
  isNew: boolean
  isChanged: boolean
}

// The decimals of numeric(18, 3).
const places = 3

/**
 * Adds single gifts to the months of their projects, and sets months that are stated as sums; totals follow. The projects
 * must be locked. Of a single gift only hashes are kept.
 */
export async function saveGifts(
  db: Db,
  gifts: readonly ImportedGift[],
  saving: Saving,
): Promise<(RowChange | FieldProblem)[]> {
  if (gifts.length === 0) return []
  const known = await knownGifts(db, gifts)
  const months = await storedMonths(db, gifts, saving)
  const openings = await openingDays(db, gifts, saving.source)
  const counted: ImportedGift[] = []
  const outcomes = gifts.map((gift): RowChange | FieldProblem => {
    const { single } = gift
    const content = single && known.get(single.referenceHash)
    if (single && content !== undefined) {
      if (content === single.contentHash) return 'unchanged'
      return { field: 'reference', expected: 'a new one, or the values it came with before', got: single.name }
    }
    const opening = openings.get(gift.projectId)
    if (opening !== undefined && gift.on <= opening) {
      const expected = `a day after ${opening}, until which the total of the project's record counts`
      return { field: 'date', expected, got: gift.on }
    }
    const key = keyOf(gift)
    const month = months.get(key) ?? emptyMonth(gift)
    const problem = monthProblem(month, gift, saving)
    if (problem) return problem
    months.set(key, month)
    if (!single) return setMonth(month, gift, saving.importId)
    known.set(single.referenceHash, single.contentHash)
    counted.push(gift)
    addGift(month, gift)
    return 'created'
  })
  await writeMonths(db, [...months.values()], saving)
  await writeGifts(db, counted)
  return outcomes
}

function keyOf(gift: Pick<ImportedGift, 'projectId' | 'month' | 'kind' | 'funderId'>): string {
  return [gift.projectId, gift.month, gift.kind, gift.funderId ?? ''].join(' ')
}

function emptyMonth({ projectId, month, kind, funderId, on }: ImportedGift): Month {
  const changes = { isNew: true, isChanged: false }
  return {
    projectId,
    month,
    kind,
    funderId,
    amount: 0n,
    count: 0,
    lastOn: on,
    origin: undefined,
    importId: undefined,
    ...changes,
  }
}

/** Why a gift cannot go into a month: it is already counted in another way. */
function monthProblem(month: Month, gift: ImportedGift, { importId }: Saving): FieldProblem | undefined {
  const origin = gift.single ? 'references' : 'sum'
  const got = `${gift.kind} of ${gift.month.slice(0, 7)}`
  if (!month.isNew && month.origin === undefined) {
    return { field: 'date', expected: "a month that no total of the project's record counts", got }
  }
  if (month.origin !== undefined && month.origin !== origin) {
    const expected =
      origin === 'sum' ? 'a month that has no single gifts yet' : 'a month that was not imported as a sum before'
    return { field: 'reference', expected, got }
  }
  if (origin === 'references' || month.importId !== importId) return undefined
  return { field: 'date', expected: 'one sum of each month, funder and kind', got }
}

function addGift(month: Month, { amount, count, on }: ImportedGift): void {
  month.amount += toMinorUnits(amount, places)
  month.count += count
  month.lastOn = later(month.lastOn, on)
  month.origin = 'references'
  month.isChanged = true
}

function setMonth(month: Month, { amount, count, on }: ImportedGift, importId: string): RowChange {
  const units = toMinorUnits(amount, places)
  const isSame = !month.isNew && month.amount === units && month.count === count && month.lastOn === on
  const outcome = isSame ? 'unchanged' : month.isNew ? 'created' : 'changed'
  Object.assign(month, { amount: units, count, lastOn: on, origin: 'sum', importId })
  month.isChanged ||= !isSame
  return outcome
}

async function knownGifts(db: Db, gifts: readonly ImportedGift[]): Promise<Map<string, string>> {
  const hashes = gifts.flatMap(({ single }) => single?.referenceHash ?? [])
  if (hashes.length === 0) return new Map()
  const { rows } = await db.query<{ reference: string; content: string }>(
    `select encode(reference_hash, 'hex') as reference, encode(content_hash, 'hex') as content from imported_gift
      where reference_hash in (select decode(w.hash, 'hex') from unnest($1::text[]) w (hash))`,
    [hashes],
  )
  return new Map(rows.map(({ reference, content }) => [reference, content]))
}

type MonthRow = {
  readonly project_id: number
  readonly month: IsoDate
  readonly kind: ImportedGift['kind']
  readonly funder_id: number | null
  readonly amount: Decimal
  readonly count: number
  readonly last_on: IsoDate
  readonly origin: 'references' | 'sum' | null
  readonly import_id: string | null
}

async function storedMonths(db: Db, gifts: readonly ImportedGift[], saving: Saving): Promise<Map<string, Month>> {
  const { rows } = await db.query<MonthRow>(
    `select m.project_id, m.month, m.kind, m.funder_id, m.amount, m.count, m.last_on, i.origin, i.import_id
      from donation_month m left join imported_month i on (i.project_id, i.month, i.kind) = (m.project_id, m.month, m.kind)
        and i.funder_id is not distinct from m.funder_id
      where m.project_id = any ($1::bigint[]) and m.month = any ($2::date[]) and m.source = $3 and m.currency = $4`,
    [gifts.map(({ projectId }) => projectId), gifts.map(({ month }) => month), saving.source, saving.currency],
  )
  return new Map(
    rows.map((row) => {
      const month: Month = {
        projectId: row.project_id,
        month: row.month,
        kind: row.kind,
        funderId: row.funder_id ?? undefined,
        amount: toMinorUnits(row.amount, places),
        count: row.count,
        lastOn: row.last_on,
        origin: row.origin ?? undefined,
        importId: row.import_id ?? undefined,
        isNew: false,
        isChanged: false,
      }
      return [keyOf(month), month]
    }),
  )
}

/** The day of the opening total of each of these projects that has one of this source. */
async function openingDays(db: Db, gifts: readonly ImportedGift[], source: string): Promise<Map<number, IsoDate>> {
  const { rows } = await db.query<{ id: number; day: IsoDate }>(
    `select project_id as id, max(last_on) as day from donation_month
      where project_id = any ($1::bigint[]) and source = $2 and kind = 'opening' group by project_id`,
    [gifts.map(({ projectId }) => projectId), source],
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

const updateTotals = `
  update project p set funding = m.amount, number_of_donations = greatest(m.count, 0),
    remaining = case when p.goal is null then p.remaining else greatest(p.goal - m.amount, 0) end
  from (
    select project_id, sum(amount) as amount, sum(case when kind = 'refund' then -count else count end) as count
    from donation_month where project_id = any ($1::bigint[]) and kind <> 'fee' group by project_id
  ) m
  where p.id = m.project_id and (p.funding, p.number_of_donations) is distinct from (m.amount, greatest(m.count, 0))`

async function writeMonths(db: Db, months: readonly Month[], { source, currency }: Saving): Promise<void> {
  const stated = months.filter(({ origin }) => origin !== undefined)
  const origins = stated.map((one) => ({
    ...{ project_id: one.projectId, month: one.month, kind: one.kind, funder_id: one.funderId },
    ...{ origin: one.origin, import_id: one.importId },
  }))
  await db.query(upsertOrigins, [JSON.stringify(origins)])
  const changed = stated.filter(({ isChanged }) => isChanged)
  if (changed.length === 0) return
  const rows = changed.map((one) => ({
    ...{ project_id: one.projectId, month: one.month, currency, kind: one.kind, source, funder_id: one.funderId },
    ...{ amount: fromMinorUnits(one.amount, places), count: one.count, last_on: one.lastOn },
  }))
  await db.query(upsertMonths, [JSON.stringify(rows)])
  await db.query(updateTotals, [changed.map(({ projectId }) => projectId)])
}

async function writeGifts(db: Db, gifts: readonly ImportedGift[]): Promise<void> {
  if (gifts.length === 0) return
  await db.query(
    `insert into imported_gift (reference_hash, content_hash, project_id)
      select decode(w.reference, 'hex'), decode(w.content, 'hex'), w.project
      from unnest($1::text[], $2::text[], $3::bigint[]) w (reference, content, project) order by 1`,
    [
      gifts.map(({ single }) => single?.referenceHash),
      gifts.map(({ single }) => single?.contentHash),
      gifts.map(({ projectId }) => projectId),
    ],
  )
}
