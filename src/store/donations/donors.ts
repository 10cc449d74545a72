import type { Db } from '../database/connection.js'

/**
 * Erases everything that is known of the person with this e-mail (letter case ignored) and gives the number of donations
 * it was known from. The donations stay, with their money; nothing in them leads back to the person.
 */
export async function eraseDonor(db: Db, email: string): Promise<number> {
  const { rowCount } = await db.query('delete from donor where lower(email) = lower($1)', [email.trim()])
  return rowCount
}
