import type { IsoDate } from '../../kernel/dates.js'
import type { RowSource } from '../../kernel/project.js'
import { listsOfEach } from '../../kernel/rows.js'
import type { InLanguages } from '../../kernel/texts.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
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
        select iati_identifier as identifier, id from project where iati_identifier = any (${asSubselect('$1::text[]')}::text[])
        union select identifier, project_id from published_identifier where identifier = any (${asSubselect('$1::text[]')}::text[]))
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

/** What a file said of a record, and where in it. */
type KeptRecord = { readonly text: string; readonly file: string | undefined; readonly line: number | undefined }

/** What a project says, of what its activity says too. */
type Said = InLanguages & { readonly title: string; readonly status: string; readonly paused: boolean }

/** The projects that moved activities have made and of which another text is kept, with that text. */
export async function findCorrected(
  db: Db,
  moved: readonly { readonly id: number; readonly text: string }[],
): Promise<(Said & { readonly id: number; readonly text: string; readonly line: number | undefined })[]> {
  const { rows } = await db.query<Said & { id: number; text: string; line: number | undefined }>(
    `select k.project_id as id, k.text, k.line, p.title, p.language, p.texts, p.status, p.paused
      from unnest($1::bigint[], $2::text[]) w (id, text) join kept_activity k on k.project_id = w.id and not k.own_number and k.text <> w.text
        join project p on p.id = k.project_id order by k.project_id`,
    [moved.map(({ id }) => id), moved.map(({ text }) => text)],
  )
  return rows.map(({ line, ...row }) => ({ ...row, line: line ?? undefined }))
}

/** Says of a project what its corrected activity says. */
export async function correctProject(
  db: Db,
  id: number,
  { title, language, texts, status, paused }: Said,
): Promise<void> {
  await db.query(
    `update project p set title = $2, status = $3, paused = $4, language = w.language, texts = w.texts
      from (select coalesce($5, language) as language, merged_texts(texts, $6) as texts from project where id = $1) w
      where id = $1 and (p.title, p.status, p.paused, p.language, p.texts) is distinct from ($2, $3, $4, w.language, w.texts)`,
    [id, title, status, paused, language ?? null, texts ? JSON.stringify(texts) : null],
  )
}

/** Says for the rest of the transaction that identifiers of projects were published elsewhere: any form of them is taken. */
export async function beginMoving(db: Db): Promise<void> {
  await db.query(`select set_config('giving.moving', 'on', true)`)
}

/**
 * Keeps what was published of projects before they moved here; returns what became of each. Another place of the same text is
 * no change.
 */
export async function saveKeptActivities(
  db: Db,
  kept: readonly (KeptRecord & {
    readonly id: number
    readonly isNew: boolean
    readonly formerly?: string | undefined
  })[],
  movedOn: IsoDate,
): Promise<RowChange[]> {
  const { rows } = await db.query<Saved<number>>(
    `with before as (select * from kept_activity where project_id = any (${asSubselect('$1::bigint[]')}::bigint[])), saved as (
      insert into kept_activity as k (project_id, text, moved_on, file, line, own_number, formerly)
      select id, text, $3, file, line, not is_new, formerly
        from unnest($1::bigint[], $2::text[], $4::text[], $5::integer[], $6::boolean[], $7::text[])
          w (id, text, file, line, is_new, formerly) order by id
      on conflict (project_id) do update set text = excluded.text, file = excluded.file, line = excluded.line,
          formerly = coalesce(excluded.formerly, k.formerly)
        where (k.text, k.file, k.line) is distinct from (excluded.text, excluded.file, excluded.line)
          or excluded.formerly is distinct from coalesce(k.formerly, excluded.formerly)
      returning k.*, k.xmax = 0 as created)
    select s.project_id as id, s.created from saved s left join before b using (project_id)
      where (s.text, s.formerly) is distinct from (b.text, b.formerly)`,
    [...listsOfEach(kept, 'id', 'text'), movedOn, ...listsOfEach(kept, 'file', 'line', 'isNew', 'formerly')],
  )
  return changesOf(kept, rows)
}

/** Keeps the records of an organisation file from before the move; returns what became of each. */
export async function saveKeptOrganisations(
  db: Db,
  kept: readonly (KeptRecord & { readonly id: string })[],
  movedOn: IsoDate,
): Promise<RowChange[]> {
  const { rows } = await db.query<Saved<string>>(
    `with before as (select * from kept_organisation where identifier = any (${asSubselect('$1::text[]')}::text[])), saved as (
      insert into kept_organisation as k (identifier, text, moved_on, file, line)
      select id, text, $3, file, line from unnest($1::text[], $2::text[], $4::text[], $5::integer[]) w (id, text, file, line)
        order by id collate "C"
      on conflict (identifier) do update set text = excluded.text, file = excluded.file, line = excluded.line
        where (k.text, k.file, k.line) is distinct from (excluded.text, excluded.file, excluded.line)
      returning k.*, k.xmax = 0 as created)
    select s.identifier as id, s.created from saved s left join before b using (identifier)
      where s.text is distinct from b.text`,
    [...listsOfEach(kept, 'id', 'text'), movedOn, ...listsOfEach(kept, 'file', 'line')],
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
