import type { Db } from '../../platform/database/connection.js'
import { recordFact } from '../../platform/database/facts.js'

/**
 * What is published: activities with everything made from them, and the API's records. `organisations` is which activities are
 * published, and what else the organisation file is made from.
 */
export type ContentKind = 'activities' | 'records' | 'organisations'

const factOf = {
  activities: 'published-activities',
  records: 'published-records',
  organisations: 'published-organisations',
} as const

/** Whether the content is unchanged since `rememberContent` recorded this name. */
export async function isContentRemembered(db: Db, kind: ContentKind, name: string): Promise<boolean> {
  const { rows } = await db.query<{ same: boolean }>(
    `select exists (select from store_fact where name = $1 and value = $2)
      and not exists (select from content_change where kind = $3) as same`,
    [factOf[kind], name, kind],
  )
  return rows[0]?.same === true
}

/** Its transaction must end before the content is read: a later change leaves a new mark. */
export async function forgetContent(db: Db, kind: ContentKind): Promise<void> {
  await db.query('delete from store_fact where name = $1', [factOf[kind]])
  await db.query('delete from content_change where kind = $1', [kind])
}

/** Records a name for the content that was read since `forgetContent`. */
export async function rememberContent(db: Db, kind: ContentKind, name: string, at: Date): Promise<void> {
  await recordFact(db, factOf[kind], name, at)
}
