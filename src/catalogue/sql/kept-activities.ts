import type { IsoDate } from '../../kernel/dates.js'
import type { RowSource } from '../../kernel/project.js'
import type { Db } from '../../platform/database/connection.js'
import type { RowChange } from '../../platform/database/upsert.js'

/** The projects that have these IATI identifiers, or were published under them. */
export async function findProjectsByIdentifier(
  db: Db,
  identifiers: readonly string[],
): Promise<ReadonlyMap<string, { readonly id: number; readonly source: RowSource }>> {
  if (identifiers.length === 0) return new Map()
  const { rows } = await db.query<{ identifier: string; id: number; source: RowSource }>(
    `with found as (
        select iati_identifier as identifier, id from project where iati_identifier = any ($1::text[])
        union select identifier, project_id from published_identifier where identifier = any ($1::text[]))
      select f.identifier, p.id, p.source from found f join project p using (id)`,
    [identifiers],
  )
  return new Map(rows.map(({ identifier, ...project }) => [identifier, project]))
}

/** Numbers that no project has. */
export async function newProjectNumbers(db: Db, count: number): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select new_number('project') as id from generate_series(1, $1::integer)`,
    [count],
  )
  return rows.map(({ id }) => id)
}

/** Keeps what was published of projects before they moved here; returns what became of each. */
export async function saveKeptActivities(
  db: Db,
  kept: readonly { readonly id: number; readonly text: string }[],
  movedOn: IsoDate,
): Promise<RowChange[]> {
  const { rows } = await db.query<Saved<number>>(
    `insert into kept_activity as k (project_id, text, moved_on)
      select id, text, $3 from unnest($1::bigint[], $2::text[]) w (id, text) order by id
      on conflict (project_id) do update set text = excluded.text where k.text <> excluded.text
      returning k.project_id as id, k.xmax = 0 as created`,
    [kept.map(({ id }) => id), kept.map(({ text }) => text), movedOn],
  )
  return changesOf(kept, rows)
}

/** Keeps the records of an organisation file from before the move; returns what became of each. */
export async function saveKeptOrganisations(
  db: Db,
  kept: readonly { readonly id: string; readonly text: string }[],
  movedOn: IsoDate,
): Promise<RowChange[]> {
  const { rows } = await db.query<Saved<string>>(
    `insert into kept_organisation as k (identifier, text, moved_on)
      select id, text, $3 from unnest($1::text[], $2::text[]) w (id, text) order by id collate "C"
      on conflict (identifier) do update set text = excluded.text where k.text <> excluded.text
      returning k.identifier as id, k.xmax = 0 as created`,
    [kept.map(({ id }) => id), kept.map(({ text }) => text), movedOn],
  )
  return changesOf(kept, rows)
}

type Saved<Id> = { id: Id; created: boolean }

function changesOf<Id>(kept: readonly { readonly id: Id }[], rows: readonly Saved<Id>[]): RowChange[] {
  const created = new Map(rows.map((row) => [row.id, row.created]))
  return kept.map(({ id }) => {
    const isCreated = created.get(id)
    return isCreated === undefined ? 'unchanged' : isCreated ? 'created' : 'changed'
  })
}
