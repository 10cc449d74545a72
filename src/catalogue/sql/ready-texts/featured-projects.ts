import { type Db, unlessReadOnly } from '../../../platform/database/connection.js'
import { currentProjectText, type ProjectTextRow, type TextRow, type WantedText } from './ready-texts.js'

// Three times as many as are shown, so that projects which end within the hour leave no gap.
const candidates = 30

/**
 * The featured projects of an hour, at most `limit` active ones; all processes show the same. The first read of an hour
 * draws them: a project's chance grows with how many people gave to it and how close it is to its goal (weighted sampling
 * without replacement: Efraimidis and Spirakis, 2006). The random number is a hash of id and hour.
 */
export async function selectFeatured(db: Db, hour: Date, limit: number, text: WantedText): Promise<ProjectTextRow[]> {
  const { rows, drawn } = await read(db, hour, limit, text, 'stored')
  if (drawn !== undefined && (rows.length === limit || !(await hasUndrawn(db, hour)))) return rows
  await unlessReadOnly(() => draw(db, hour))
  return (await read(db, hour, limit, text, 'drawn')).rows
}

/** Whether projects are active that this hour's draw does not know: they came, or became active, after it. */
async function hasUndrawn(db: Db, hour: Date): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (
       select from project p where p.active
         and p.id <> all (select unnest(project_ids) from featured_hour where hour = $1)) as found`,
    [hour],
    'featured-undrawn',
  )
  return rows[0]?.found ?? false
}

// A draw has the same outcome in every process while the projects stay the same.
const drawnIds = `array(
    select id from (
      select p.id, -ln(((hashtextextended(p.id || ' ' || extract(epoch from $1::timestamptz)::bigint, 0) & 4503599627370495)
          + 1) / 4503599627370497.0)
        / (ln(2 + p.number_of_donations) * (0.5 + least(1, p.funding / nullif(p.goal, 0)))) as lot
      from project p where p.active
    ) candidate
    order by lot, id limit ${candidates})`

const draws = {
  stored: 'select project_ids from featured_hour where hour = $1',
  // A read-only database has not stored the draw, so the read repeats it.
  drawn: `select coalesce((select project_ids from featured_hour where hour = $1), ${drawnIds}) as project_ids`,
} as const

async function read(db: Db, hour: Date, limit: number, text: WantedText, from: keyof typeof draws) {
  // The left join gives `drawn` also where no project is left: one row without an id.
  const { rows } = await db.query<Partial<Omit<TextRow, 'version'>> & { readonly drawn: number }>(
    `select cardinality(f.project_ids) as drawn, p.id, ${currentProjectText(text, '$2')} as text
      from (${draws[from]}) f
        left join lateral (
          select p.id, c.position from unnest(f.project_ids) with ordinality c (id, position)
            join project p on p.id = c.id and p.active
          order by c.position limit $3
        ) p on true
      order by p.position`,
    [hour, text.recordVersion, limit],
    `featured-${from}-${text.view}-${text.format}`,
  )
  return {
    drawn: rows[0]?.drawn,
    rows: rows.flatMap(({ id, text }) => (id === undefined ? [] : { id, text, active: true })),
  }
}

async function draw(db: Db, hour: Date): Promise<void> {
  await db.query(
    `with old as (delete from featured_hour where hour < $1::timestamptz - interval '2 hours')
      insert into featured_hour (hour, project_ids)
      select $1, ${drawnIds}
      on conflict (hour) do update set project_ids = excluded.project_ids`,
    [hour],
  )
}
