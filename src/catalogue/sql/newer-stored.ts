import { type IsoDate, isoDateOf, isoInstantOf } from '../../kernel/dates.js'
import type { FieldProblem } from '../../kernel/errors.js'
import type { HashedRecord } from '../../kernel/record.js'
import type { Db } from '../../platform/database/connection.js'

/** Says that the stored value is kept because the record is older. */
function stays(field: string, storedAt: Date, statedAt: Date): FieldProblem {
  const expected = `what is known of ${isoInstantOf(storedAt)} or later, since that is stored (it stays; --force takes this one)`
  return { field, expected, got: isoInstantOf(statedAt) }
}

/** Why the record is not taken: the stored project has changed after it. A change dated after today is ignored. */
export function olderThanProject(
  { record: { modifiedDate } }: HashedRecord,
  storedAt: Date | undefined,
  today: IsoDate,
): FieldProblem | undefined {
  if (!storedAt || !modifiedDate || modifiedDate >= storedAt || isoDateOf(storedAt) > today) return undefined
  return stays('modifiedDate', storedAt, modifiedDate)
}

/** The organisations of these records that stay as they are stored, since they come from a newer page. */
export async function newerOrganisations(
  db: Db,
  hashed: readonly HashedRecord[],
): Promise<ReadonlyMap<number, FieldProblem>> {
  const { rows } = await db.query<{ id: number; storedAt: Date; statedAt: Date }>(
    `select v.organisation_id as id, v.stated_at as stored_at, w.at as stated_at
      from json_to_recordset($1::json) as w(id bigint, at timestamptz)
        join organisation_version v on v.organisation_id = w.id and v.stated_at > w.at`,
    [JSON.stringify(statements(hashed))],
  )
  return new Map(
    rows.map((row) => [row.id, stays(`organization ${row.id}`, new Date(row.storedAt), new Date(row.statedAt))]),
  )
}

/** Remembers the instant as of which these organisations are known. */
export async function recordOrganisationInstants(db: Db, hashed: readonly HashedRecord[]): Promise<void> {
  await db.query(
    `update organisation_version v set stated_at = w.at
      from json_to_recordset($1::json) as w(id bigint, at timestamptz)
      where v.organisation_id = w.id and v.stated_at is distinct from w.at`,
    [JSON.stringify(statements(hashed))],
  )
}

function statements(hashed: readonly HashedRecord[]): { id: number; at: Date }[] {
  return hashed.flatMap(({ record: { organisation }, knownAt }) =>
    organisation && knownAt ? [{ id: organisation.id, at: knownAt }] : [],
  )
}
