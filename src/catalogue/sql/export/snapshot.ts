import { newestEdition } from '../../../iati/mapping/assumptions.js'
import {
  type ConfirmedAssumptions,
  findConfirmedAssumptions,
} from '../../../platform/database/confirmed-assumptions.js'
import type { Connection, Db } from '../../../platform/database/connection.js'
import { copyRows } from '../../../platform/database/copy-rows.js'
import { listPublishers } from '../../../platform/database/publisher.js'

/** The records that a statement selects as JSON texts; texts are views into a buffer: use or copy them before the next. */
export async function* selectedTexts(client: Connection, read: string): AsyncGenerator<Buffer[]> {
  for await (const rows of copyRows(client, `copy (${read}) to stdout (format binary)`)) {
    yield rows.flatMap(([text]) => text ?? [])
  }
}

/** Facts of the whole store that an export states. */
export type StoreFacts = {
  /** The highest migration. */
  readonly schema: number
  /** Whether demo data was ever seeded. */
  readonly demoSeeded?: string | undefined
  /** The publisher's record of the live release: its hash, and when it last changed. */
  readonly publisherRecord?: { readonly hash: string; readonly lastUpdated: string } | undefined
  /** Whose assumptions it publishes; absent in exports of earlier versions, which know only the first edition. */
  readonly assumptions?: ConfirmedAssumptions | undefined
  /** Who published, oldest first. */
  readonly publishers?: Awaited<ReturnType<typeof listPublishers>> | undefined
}

export async function readStoreFacts(db: Db): Promise<StoreFacts> {
  const { rows } = await db.query<{
    schema: number
    demo: string | undefined
    hash: string | undefined
    updated: string | undefined
  }>(
    `select (select max(version) from schema_migration) as schema,
        (select value from store_fact where name = 'demo-seeded') as demo,
        live.record ->> 'hash' as hash, live.record ->> 'lastUpdated' as updated
      from (select) one left join (
        select coalesce(
          (select manifest -> 'publisherRecord' from release where state = 'live'),
          (select value::jsonb from store_fact where name = 'publisher-record')) as record) live on true`,
  )
  const publishers = await listPublishers(db)
  const assumptions = (await findConfirmedAssumptions(db)) ?? { edition: newestEdition }
  const { schema = 0, demo, hash, updated } = rows[0] ?? {}
  return {
    schema,
    assumptions,
    ...(demo !== undefined && { demoSeeded: demo }),
    ...(hash !== undefined && updated !== undefined && { publisherRecord: { hash, lastUpdated: updated } }),
    ...(publishers.length > 0 && { publishers }),
  }
}

/** Names stored rows that an import of an export would collide with; undefined: none. */
export async function findContents(db: Db): Promise<string | undefined> {
  const { rows } = await db.query<{ what: string }>(
    `select what from (values
        ('projects', exists (select from project)), ('organisations', exists (select from organisation)),
        ('published identifiers', exists (select from published_identifier)),
        ('donations', exists (select from donation)), ('accounts', exists (select from account))
      ) as content (what, found) where found`,
  )
  return rows.length === 0 ? undefined : rows.map(({ what }) => what).join(', ')
}

/** Removes the reference lists, which an import of an export brings whole. */
export async function clearReferenceLists(db: Db): Promise<void> {
  for (const table of ['theme', 'country', 'region']) await db.query(`delete from ${table}`)
}

const numbered = [
  'account',
  'api_key',
  'donation',
  'donation_event',
  'donation_refund',
  'sandbox_charge',
  'sandbox_refund',
]

/** Sets the sequences, also that of receipts, behind the imported numbers. */
export async function continueNumbers(db: Db): Promise<void> {
  for (const table of numbered) {
    await db.query(
      `select setval(pg_get_serial_sequence($1, 'id'), max(id)) from ${table} having max(id) is not null`,
      [table],
    )
  }
  for (const [sequence, part] of [
    ['receipt_number_seq', 'R(\\d+)'],
    ['receipt_contribution_seq', 'GC(\\d+)'],
  ]) {
    await db.query(
      `select setval($1, max(number)) from (
          select substring(receipt_number from $2)::bigint as number from donation where receipt_number is not null
        ) receipt having max(number) >= (select last_value from ${sequence})`,
      [sequence, part],
    )
  }
}
