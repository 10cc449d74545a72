import type { IsoDate } from '../../kernel/dates.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import type { Db } from '../../platform/database/connection.js'

/** Sums of one currency, kind and month, as decimal texts. */
export type ReceiptLine = {
  readonly currency: string
  readonly kind: string
  readonly month: string
  /** What the rows of the file add up to: what was taken, refused and left out. */
  readonly file: string
  readonly taken: string
  readonly refused: string
  readonly leftOut: string
  /** What the store has of it, in the platform's currency; absent: nothing of this currency is in the books. */
  readonly before?: string
  readonly after?: string
}

/** What an import is answerable for: every row of its files, and every sum. */
export type ImportReceipt = {
  readonly rows: {
    readonly in: number
    readonly taken: number
    readonly refused: number
    readonly leftOut: number
    /** Rows whose record stands on a later line of the same batch. */
    readonly replaced: number
    /** Rows among the taken of files that were not read again, since they would change nothing; they are in no sum. */
    readonly known: number
  }
  /** Refused rows by the first reason of each, the most frequent first. */
  readonly refusedBy?: Readonly<Record<string, number>>
  /** Of kinds with money; by currency, kind and month. */
  readonly sums: readonly ReceiptLine[]
  /** Rows refused or left out whose amount, day or currency cannot be read: they are in no sum. */
  readonly unreadable: number
  /** SHA-256 of how the files were read, where something was said about it. */
  readonly recipe?: string
}

/** What the store has of a currency, kind and month. */
export type StoredSum = {
  readonly currency: CurrencyCode
  readonly kind: string
  readonly month: IsoDate
  readonly amount: Decimal
}

/** The sums of these months of projects that have one source. */
export async function sumsOfMonths(
  db: Db,
  months: readonly { readonly project: number; readonly month: IsoDate }[],
  source: string,
): Promise<StoredSum[]> {
  const wanted = [...new Map(months.map((one) => [`${one.project} ${one.month}`, one])).values()]
  const { rows } = await db.query<StoredSum>(
    // Each by its index, whatever the statistics say: an import has not been analysed yet, and its months are many.
    `select m.currency, m.kind, m.month, sum(m.amount) as amount
      from unnest($1::bigint[], $2::date[]) as wanted (project_id, month)
        cross join lateral (select * from donation_month d
          where d.project_id = wanted.project_id and d.month = wanted.month and d.source = $3 offset 0) m
      group by m.currency, m.kind, m.month`,
    [wanted.map(({ project }) => project), wanted.map(({ month }) => month), source],
  )
  return rows
}

/** The sums of payouts with these references, made or planned. */
export async function sumsOfPayouts(
  db: Db,
  kind: 'payout' | 'planned',
  references: readonly string[],
): Promise<StoredSum[]> {
  const [table, day] = kind === 'payout' ? ['disbursement', 'disbursed_on'] : ['payout_plan', 'planned_on']
  const { rows } = await db.query<StoredSum>(
    `select currency, $1 as kind, date_trunc('month', ${day})::date as month, sum(amount) as amount from ${table}
      where reference = any ($2::text[]) group by currency, month`,
    [kind, references],
  )
  return rows
}

/** All that the store has of these months, whatever brought it. */
export async function sumsOfStore(db: Db, months: readonly string[]): Promise<StoredSum[]> {
  const { rows } = await db.query<StoredSum>(
    `select currency, kind, month, sum(amount) as amount from (
        select currency, kind, month, amount from donation_month where month = any ($1::date[])
        union all select currency, 'payout', date_trunc('month', disbursed_on)::date, amount from disbursement
        union all select currency, 'planned', date_trunc('month', planned_on)::date, amount from payout_plan) s
      where month = any ($1::date[]) group by currency, kind, month`,
    [months.map((month) => `${month}-01`)],
  )
  return rows
}

/** A month of a project in the books, and what each import has brought to it. */
export type ProjectMonth = {
  readonly month: string
  readonly kind: string
  readonly currency: CurrencyCode
  readonly amount: Decimal
  readonly count: number
  /** Single gifts by the import that brought them; without its number where none is known. */
  readonly imports: readonly {
    readonly import?: number
    readonly at?: string
    readonly actor?: string
    readonly files?: readonly string[]
    readonly amount: Decimal
    readonly count: number
  }[]
}

/** What imports have brought to a project, by month and kind, beside what the books have. */
export async function receiptsOfProject(db: Db, project: number): Promise<ProjectMonth[]> {
  const { rows } = await db.query<ProjectMonth>(
    `with brought as (
        select date_trunc('month', given_on)::date as month, kind, import_id, sum(amount) as amount, sum(coalesce(count, 1)) as count
          from imported_gift where project_id = $1 and given_on is not null group by 1, 2, 3)
      select to_char(m.month, 'YYYY-MM') as month, m.kind, m.currency, sum(m.amount) as amount, sum(m.count)::integer as count,
          coalesce((select json_agg(json_strip_nulls(json_build_object('import', b.import_id, 'at',
              to_char(i.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'actor', i.actor, 'files',
              (select json_agg(f ->> 'name' order by n) from jsonb_array_elements(i.files) with ordinality as l (f, n)),
              'amount', b.amount::text, 'count', b.count)) order by b.import_id nulls first)
            from brought b left join import i on i.id = b.import_id where b.month = m.month and b.kind = m.kind), '[]') as imports
        from donation_month m where m.project_id = $1 group by m.month, m.kind, m.currency order by m.month, m.kind, m.currency`,
    [project],
  )
  return rows
}
