import type { Payments } from '../payments.js'
import { listGiftsOfYear, queueStatements } from '../sql/donor-mails.js'
import { listDonors } from '../sql/donors.js'

/** Who gets a statement of a year; `unreadable`: donations whose donor has a key that is missing. */
export type YearStatements = { readonly donors: number; readonly donations: number; readonly unreadable: number }

const atOnce = 500

/**
 * Looks for the donors of a UTC year, one for each e-mail address, letter case ignored; with `queuedAt` their statements become
 * due, each once for ever, and `queued` says how many.
 */
export async function yearStatements(
  { store, donors }: Pick<Payments, 'store' | 'donors'>,
  year: number,
  queuedAt: Date | undefined,
): Promise<YearStatements & { readonly queued: number }> {
  const first = new Map<string, number>()
  let [donations, unreadable, queued, after] = [0, 0, 0, 0]
  for (;;) {
    const ids = await listGiftsOfYear(store.db, { year, after, limit: atOnce })
    const rows = await listDonors(store.db, ids)
    for (const id of ids) {
      const row = rows.get(id)
      if (!row) continue
      donations += 1
      if (row.sealed && !donors.keyIds.includes(row.sealed.keyId)) unreadable += 1
      else {
        const { email } = row.sealed ? donors.open(row.sealed, row.reference) : row.clear
        const person = email.trim().toLowerCase()
        if (!first.has(person)) first.set(person, id)
      }
    }
    after = ids.at(-1) ?? 0
    if (ids.length < atOnce) break
  }
  const people = [...first.values()]
  if (queuedAt) {
    for (let at = 0; at < people.length; at += atOnce) {
      queued += await queueStatements(store.db, { year, donationIds: people.slice(at, at + atOnce), at: queuedAt })
    }
  }
  return { donors: people.length, donations, unreadable, queued }
}
