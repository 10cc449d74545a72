import type { KeptOrganisation } from '../../iati/mapping/kept.js'
import type { IsoDate } from '../../kernel/dates.js'
import { type CurrencyCode, type Decimal, minorUnitExponent } from '../../kernel/money.js'
import type { OtherTexts } from '../../kernel/texts.js'
import type { Connection, Db } from '../../platform/database/connection.js'
import { copyRows } from '../../platform/database/copy-rows.js'

/** The money that the organisation file reports: of one currency, planned after `day`, of the years `first` to `last`. */
export type MoneyScope = {
  readonly currency: CurrencyCode
  readonly day: IsoDate
  readonly first: number
  readonly last: number
}

/** A calendar year's money of the platform: paid out, kept as fees, or planned to be paid out. */
export type YearOfMoney = {
  readonly year: number
  readonly kind: 'paid' | 'fees' | 'planned'
  readonly amount: Decimal
}

// A plan counts until its day has come or a disbursement has its reference, as in planned-disbursement.
const openPlan = `
  not exists (select from disbursement d where d.reference = pp.reference and d.disbursed_on <= $DAY)`

// NaN in one row would make a sum of all NaN: its project is held, and its amount does not count (iati.md 13.3).
const isNumber = `amount <> 'NaN'`

/** Sums by year and kind, by year; years without money are left out. */
export async function moneyByYear(db: Db, { currency, day, first, last }: MoneyScope): Promise<YearOfMoney[]> {
  const { rows } = await db.query<YearOfMoney>(
    `select year, kind, amount::text as amount from (
       select extract(year from disbursed_on)::integer as year, 'paid' as kind, sum(round(amount, $5)) as amount
         from disbursement where currency = $1 and disbursed_on <= $2 and disbursed_on >= make_date($3, 1, 1)
           and ${isNumber} group by 1
       union all
       select extract(year from month)::integer, 'fees', sum(round(amount, $5))
         from donation_month where kind = 'fee' and currency = $1 and last_on <= $2 and month >= make_date($3, 1, 1)
           and month <= $2 and ${isNumber} group by 1
       union all
       select extract(year from planned_on)::integer, 'planned', sum(round(amount, $5))
         from payout_plan pp where currency = $1 and planned_on > $2 and planned_on <= make_date($4, 12, 31)
           and ${openPlan.replace('$DAY', '$2')} and ${isNumber} group by 1
     ) as money order by year, kind collate "C"`,
    [currency, day, first, last, minorUnitExponent(currency)],
  )
  return rows
}

/** What the organisation file says of an organisation that the platform works with. */
export type PartnerRow = {
  readonly id: number
  readonly name: string
  readonly ein: string | null
  readonly orgRef: string | null
  readonly url: string | null
  readonly language: string | null
  readonly texts: OtherTexts | null
}

/** A partner, with what was published of it before the move. */
export type PublishedPartnerRow = PartnerRow & { readonly kept: KeptOrganisation | null }

/** A record from before the move. */
export type KeptRow = { readonly identifier: string; readonly kept: KeptOrganisation }

export type PartnerBudgetRow = PartnerRow & { readonly year: number; readonly amount: Decimal }

// The order of the index organisation_ref; equal identifiers are neighbours.
const ref = `coalesce(o.org_ref, 'US-EIN-' || regexp_replace(o.ein, '[^0-9]', '', 'g'))`
const refOrder = `${ref} collate "C", o.id`
const partnerColumns = `'id', o.id, 'name', o.name, 'ein', o.ein, 'orgRef', o.org_ref, 'url', o.url,
  'language', o.language, 'texts', o.texts`
const withRef = '(o.org_ref is not null or o.ein is not null)'

/** Organisations with an identifier and a published activity, in the order of identifiers. */
export async function* publishedPartners(client: Connection): AsyncGenerator<PublishedPartnerRow> {
  for await (const texts of jsonTexts(client, partnersSql)) yield* texts.map(toRow<PublishedPartnerRow>)
}

/** What was published before the move of organisations that are no published partners now, in the order of identifiers. */
export async function* keptWithoutPartner(client: Connection): AsyncGenerator<KeptRow> {
  for await (const texts of jsonTexts(client, keptSql)) yield* texts.map(toRow<KeptRow>)
}

/** What was published before the move of the publisher itself. */
export async function keptOfPublisher(db: Db, identifier: string): Promise<KeptOrganisation | undefined> {
  const { rows } = await db.query<KeptOrganisation>(
    'select text, moved_on, file, line from kept_organisation where identifier = $1',
    [identifier],
  )
  return rows[0]
}

/** Whether an organisation file was imported. */
export async function hasKeptOrganisation(db: Db): Promise<boolean> {
  const { rows } = await db.query('select from kept_organisation limit 1')
  return rows.length > 0
}

/** Planned payouts to organisations with an identifier by year, in the order of identifiers, then years. */
export async function* plannedByPartner(client: Connection, scope: MoneyScope): AsyncGenerator<PartnerBudgetRow> {
  for await (const texts of jsonTexts(client, plannedSql(scope))) yield* texts.map(toRow<PartnerBudgetRow>)
}

/** Everything that `publishedPartners`, `keptWithoutPartner` and `plannedByPartner` return, as texts, to see whether any of it changed. */
export async function* partnerTexts(client: Connection, scope: MoneyScope): AsyncGenerator<readonly Buffer[]> {
  yield* jsonTexts(client, partnersSql)
  yield* jsonTexts(client, keptSql)
  yield* jsonTexts(client, plannedSql(scope))
}

const isPublished = `${withRef} and exists (
      select from project p join rendering r on r.project_id = p.id
      where p.organisation_id = o.id and r.text is not null)`
const kept = `json_build_object('text', k.text, 'movedOn', k.moved_on, 'file', k.file, 'line', k.line)`

const partnersSql = `
  select json_build_object(${partnerColumns}, 'kept', (select ${kept} from kept_organisation k where k.identifier = ${ref}))::text
    from organisation o where ${isPublished} order by ${refOrder}`

const keptSql = `
  select json_build_object('identifier', k.identifier, 'kept', ${kept})::text from kept_organisation k
    where not exists (select from organisation o where ${ref} = k.identifier and ${isPublished})
    order by k.identifier collate "C"`

function plannedSql({ currency, day, last }: MoneyScope): string {
  return `
    select json_build_object(${partnerColumns}, 'year', b.year, 'amount', b.amount::text)::text
      from (
        select p.organisation_id, extract(year from pp.planned_on)::integer as year,
            sum(round(pp.amount, ${minorUnitExponent(currency)})) as amount
          from payout_plan pp join project p on p.id = pp.project_id
          where pp.currency = '${currency}' and pp.planned_on > '${day}' and pp.planned_on <= make_date(${last}, 12, 31)
            and ${openPlan.replace('$DAY', `'${day}'`)} and pp.${isNumber}
          group by 1, 2) b
        join organisation o on o.id = b.organisation_id
      where ${withRef}
      order by ${refOrder}, b.year`
}

async function* jsonTexts(client: Connection, select: string): AsyncGenerator<Buffer[]> {
  for await (const rows of copyRows(client, `copy (${select}) to stdout (format binary)`)) {
    yield rows.flatMap(([text]) => text ?? [])
  }
}

function toRow<Row>(text: Buffer): Row {
  return JSON.parse(text.toString('utf8')) as Row
}
