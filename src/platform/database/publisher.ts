import type { PublisherIdentity } from '../../kernel/publisher.js'
import type { Db } from './connection.js'

/** What was recorded of the publisher, oldest first; the last one counts. [] before the first release that is not a trial's. */
export async function listPublishers(db: Db): Promise<(PublisherIdentity & { readonly recordedAt: Date })[]> {
  const { rows } = await db.query<PublisherIdentity & { readonly recordedAt: Date }>(
    'select ref, type, currency, language, recorded_at from publisher order by id',
  )
  return rows
}

/** Who publishes; undefined before the first release that is not a trial's. */
export async function findPublisher(db: Db): Promise<PublisherIdentity | undefined> {
  return (await listPublishers(db)).at(-1)
}

/** Records who publishes from now on. */
export async function recordPublisher(db: Db, publisher: PublisherIdentity, at: Date): Promise<void> {
  const { ref, type, currency, language } = publisher
  await db.query('insert into publisher (ref, type, currency, language, recorded_at) values ($1, $2, $3, $4, $5)', [
    ...[ref, type, currency, language],
    at,
  ])
}

/** The publisher's earlier identifiers, oldest first, each where it was last in force. */
export async function earlierPublisherRefs(db: Db): Promise<string[]> {
  const refs = (await listPublishers(db)).map(({ ref }) => ref)
  return refs.filter((ref, index) => ref !== refs.at(-1) && refs.lastIndexOf(ref) === index)
}

/** Makes others who change the publisher wait for the end of the transaction. */
export async function lockPublisher(db: Db): Promise<void> {
  await db.query('lock table publisher in share row exclusive mode')
}
