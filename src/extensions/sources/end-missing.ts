import { sha256 } from '../../catalogue/import/kinds/gifts.js'
import type { ReadRecord } from '../../catalogue/import/record-importer.js'
import { closeProjects, removePayoutPlans, removeReports } from '../../catalogue/sql/ended-records.js'
import type { CurrencyCode } from '../../kernel/money.js'
import type { RecordSource } from '../../kernel/record.js'
import { removeDisbursement } from '../../money/sql/disbursements.js'
import { removeGift, removeMonthSums } from '../../money/sql/imported-gifts.js'
import type { Db } from '../../platform/database/connection.js'

/** How the records that end were written. */
export type EndingOf = { readonly source: RecordSource; readonly currency: CurrencyCode; readonly importId: string }

/** How records of a kind end whose keys are missing in a complete file; each is given the values of its keys. */
const endings: Readonly<Record<string, (db: Db, keys: readonly string[], ending: EndingOf) => Promise<number>>> = {
  projects: (db, keys, { source }) => closeProjects(db, keys, source),
  reports: (db, keys, { source }) => removeReports(db, keys, source),
  'payout-plans': (db, keys, { source }) => removePayoutPlans(db, keys, source),
  disbursements: async (db, keys) => {
    for (const key of keys) await removeDisbursement(db, key)
    return keys.length
  },
  gifts: async (db, keys, ending) => {
    for (const key of keys) await (isHash(key) ? removeGift(db, key, ending) : removeMonthSums(db, [key], ending))
    return keys.length
  },
}

/** The kinds whose records can end; others are lists to which records refer. */
export const endingKinds: readonly string[] = Object.keys(endings)

export function canEnd(kind: string): boolean {
  return Object.hasOwn(endings, kind)
}

/** Ends the records of these keys, as `keyOfRecord` made them; returns how many there were. */
export async function endRecords(db: Db, kind: string, keys: readonly string[], ending: EndingOf): Promise<number> {
  return (await endings[kind]?.(db, keys.map(valueOfKey), ending)) ?? 0
}

/** The key of a record among those that a source has said: its field and value. Of a gift only the hash of its reference is kept. */
export function keyOfRecord(kind: string, { once: [field, value] }: Pick<ReadRecord<unknown>, 'once'>): string {
  return `${field}\u001f${kind === 'gifts' && field === 'reference' ? sha256(value) : value}`
}

function valueOfKey(key: string): string {
  return key.slice(key.indexOf('\u001f') + 1)
}

function isHash(key: string): boolean {
  return /^[0-9a-f]{64}$/.test(key)
}
