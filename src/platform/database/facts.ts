import type { Db } from './connection.js'

/** Facts about the store as a whole, by name. */
export type FactName =
  /** What the newest organisation file leaves out for errors, as JSON. */
  | 'organisation-left-out'
  /** The edition of the assumptions that are published, and who confirmed it, as JSON. */
  | 'assumptions'
  /** When demo data was seeded; absent: never. */
  | 'demo-seeded'
  /** The live release after which one release may lose anything, because an operator has removed data. */
  | 'loss-accepted-from'
  /** The address of the API, when none is configured. */
  | 'base-url'
  /** Hash and date of the publisher's record in the releases of the store that this one was imported from, as JSON. */
  | 'publisher-record'
  /** The role that may write the operator's columns with plain SQL. */
  | 'writer-role'
  /** The open alarms that workers and API processes have sent, as JSON. */
  | 'open-alarms'
  | 'open-api-alarms'
  /** The newest test alarm that a person has asked for, and what became of it, as JSON. */
  | 'test-alarm'
  /** The last known state of the datasets in the IATI registry, as JSON. */
  | 'registry'
  /** Names of what the live release and the newest set of bulk files were made from, while nothing has changed since. */
  | 'published-activities'
  | 'published-records'
  | 'published-organisations'
  /** The progress of the delivery to the bucket, as JSON. */
  | 'bucket'
  /** The release whose changed feeds the WebSub hub was told of. */
  | 'hub-told'
  /** The folder that the store publishes into, and a process that has another one, as JSON. */
  | 'release-folder'
  | 'refused-folder'
  /** The release that was live when the database was found to be older, as JSON; until a person has seen to it. */
  | 'restored-behind'
  /** The newest backup of the store, as JSON. */
  | 'last-backup'
  /** Why the worker could write no backup, since the last one that it wrote, as JSON. */
  | 'failed-backup'
  /** The newest backup that a worker has restored on trial, or tried to, as JSON. */
  | 'tried-backup'
  /** How the sandbox of payments is set, as JSON: how far its time is moved, and its rates of exchange. */
  | 'sandbox'
  /** How often stored gifts, or what files name their projects by, have changed; triggers count it. */
  | 'gift-turn'

/** The fact's value; undefined when it was never recorded. */
export async function findFact(db: Db, name: FactName): Promise<string | undefined> {
  const { rows } = await db.query<{ value: string }>('select value from store_fact where name = $1', [name])
  return rows[0]?.value
}

/** Records the fact; replaces an earlier value. */
export async function recordFact(db: Db, name: FactName, value: string, at: Date): Promise<void> {
  await db.query(
    `insert into store_fact (name, value, recorded_at) values ($1, $2, $3)
      on conflict (name) do update set value = excluded.value, recorded_at = excluded.recorded_at`,
    [name, value, at],
  )
}

/** Removes the fact, as if it had never been recorded. */
export async function forgetFact(db: Db, name: FactName): Promise<void> {
  await db.query('delete from store_fact where name = $1', [name])
}

/** Makes others who record facts wait for the end of the transaction. */
export async function lockFacts(db: Db): Promise<void> {
  await db.query('lock table store_fact in share row exclusive mode')
}
