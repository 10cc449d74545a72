import { describe, expect, it } from 'vitest'
import { type Db, sqlState } from '../../../src/platform/database/connection.js'
import { defaultWriterRole, grantWriterRole } from '../../../src/platform/database/writer-role.js'
import { testDatabase } from '../../support/store/database.js'

// Projects 1 and 2 are of organisation 1, which counts its projects. Project 3 is of organisation 3, which states them;
// organisation 2 gave to it and is paid for it. Project 4 and organisation 4 have nothing.
const rows = `
  insert into region values ('Africa'), ('Asia');
  insert into country values ('SL', 'Sierra Leone', 'Africa'), ('PE', 'Peru', null), ('TZ', 'Tanzania', null);
  insert into theme values ('water', 'Water'), ('edu', 'Education'), ('health', 'Health');
  insert into theme_alias values ('Wells', 'water');
  insert into organisation (id, name, stated_total_projects, stated_active_projects) values
    (1, 'Tara', null, null), (2, 'Fund', null, null), (3, 'Stated', 5, 5), (4, 'Nobody', null, null);
  insert into organisation_country values (1, 0, 'PE'), (3, 0, 'SL');
  insert into organisation_theme values (1, 0, 'edu'), (3, 0, 'water');
  insert into project (id, organisation_id, active, status, title, goal)
    select id, nullif((array[1, 1, 3, 0])[id], 0), true, 'active', 'Project ' || id, 100 from generate_series(1, 4) id;
  insert into project_country values (1, 0, 'SL', 40);
  insert into project_theme values (1, 0, 'water');
  insert into project_sdg values (1, '6');
  insert into photo (project_id, position, wire_id) values (1, 0, 0);
  insert into video values (1, 0, 'https://video.example/1');
  insert into donation_option values (1, 0, 10, 'Pipes');
  insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url)
    select id, id, 'Report', '2026-01-01Z', '2026-01-01Z', '<p>Dug.</p>', 'https://reports.example/' || id
    from generate_series(1, 2) id;
  insert into report_image values (1, 0, 'https://reports.example/1.jpg', 'image/jpeg');
  insert into donation_month (project_id, month, currency, kind, funder_id, amount, count, last_on)
    values (3, '2026-01-01', 'USD', 'gift', 2, 10, 1, '2026-01-10');
  insert into disbursement (project_id, reference, disbursed_on, amount, currency, receiver_id)
    values (3, 'paid', '2026-01-20', 5, 'USD', 2);
  insert into payout_plan (reference, project_id, planned_on, amount, currency) values ('plan', 1, '2026-02-01', 5, 'USD');
  insert into rendering (project_id, identifier, verdict, text, segment, errors, warnings, infos, notice_counts, notices, input_key)
    values (1, 'T-1', 'valid', '<a/>', 1, 0, 0, 0, '{}', '[]', 'k'), (2, 'T-2', 'held', null, 2, 0, 0, 0, '{}', '[]', 'k');
  insert into activity_rows values (1, 'h', 1, '{}', '', '', '');
  insert into segment_summary values (1, '1', '{}'), (2, '1', '{}');
  insert into wire_record values (1, 1, 'x', 'j', 1, 'x', 'j');
  insert into organisation_record values (1, 1, 1, 'x', 'j')`

/** Inserts of one row. */
const inserted: Readonly<Record<string, string>> = {
  country: `values ('KE', 'Kenya')`,
  disbursement: `(project_id, reference, disbursed_on, amount, currency) values (2, 'new', '2026-01-20', 5, 'USD')`,
  donation_month: `(project_id, month, currency, kind, amount, count, last_on)
    values (2, '2026-01-01', 'USD', 'gift', 10, 1, '2026-01-10')`,
  donation_option: `values (2, 0, 10, 'Pipes')`,
  organisation: `(id, name) values (9, 'New')`,
  organisation_country: `values (2, 0, 'PE')`,
  organisation_theme: `values (1, 1, 'water')`,
  payout_plan: `values ('new', 2, '2026-02-01', 5, 'USD')`,
  photo: `(project_id, position, wire_id) values (2, 0, 0)`,
  progress_report: `(id, project_id, title, published_at, updated_at, content_html, url)
    values (9, 2, 'R', '2026-01-01Z', '2026-01-01Z', '', 'https://reports.example/9')`,
  project: `(id, organisation_id, active, status, title) values (9, 1, true, 'active', 'New')`,
  project_country: `values (2, 0, 'SL')`,
  project_sdg: `values (2, '6')`,
  project_theme: `values (2, 0, 'water')`,
  region: `values ('Europe')`,
  report_image: `values (2, 0, 'https://reports.example/2.jpg')`,
  theme: `values ('new', 'New')`,
  theme_alias: `values ('Lessons', 'edu')`,
  video: `values (2, 0, 'https://video.example/2')`,
  rendering: `(project_id, identifier, verdict, text, segment, errors, warnings, infos, notice_counts, notices, input_key)
    values (3, 'T-3', 'valid', '<a/>', 3, 0, 0, 0, '{}', '[]', 'k')`,
  activity_rows: `values (2, 'h', 1, '{}', '', '', '')`,
  wire_record: `values (2, 1, 'x', 'j', 1, 'x', 'j')`,
  organisation_record: `values (2, 1, 1, 'x', 'j')`,
}

/** What a column becomes where its type alone does not say what is allowed; a statement changes all rows of its table. */
const changed: Readonly<Record<string, string>> = {
  code: `case code when 'SL' then 'SX' when 'PE' then 'PX' when 'TZ' then 'TX' else '7' end`,
  country_code: `'TZ'`,
  language: `'fr'`,
  texts: `'{"title@fr": "Puits"}'`,
  currency: `'EUR'`,
  ein: `'12-3456789'`,
  external_id: `'x' || id`,
  funder_id: '4',
  glide_number: `'EQ-2020-123456-NPL'`,
  iati_identifier: `'GB-CHC-1164883-N' || id`,
  kind: `'opening'`,
  last_on: `last_on + 1`,
  location_precision: `'country'`,
  month: `(month - interval '1 month')::date, last_on = (last_on - interval '1 month')::date`,
  org_type: `'22'`,
  organisation_id: '4',
  project_id: '4',
  receiver_id: '4',
  region_name: `'Asia'`,
  report_id: '2',
  sector_code: `'14030'`,
  source: `'import'`,
  name_source: `'import'`,
  state: `'x'`,
  status: `'funded'`,
  theme_id: `'health'`,
  updated_at: `updated_at + interval '1 day'`,
  published_at: `published_at - interval '1 day'`,
  url: `'https://changed.example/'`,
  verdict: `'held'`,
}

const ofType: Readonly<Record<string, (column: string) => string>> = {
  text: (column) => `coalesce(${column}, '') || 'x'`,
  boolean: (column) => `not ${column}`,
  date: () => `'2026-03-03'`,
  'timestamp with time zone': () => `'2026-03-03Z'`,
  jsonb: () => `'{"a": 1}'`,
  bytea: () => String.raw`'\x01'`,
  'integer[]': () => `'{1}'`,
}

/** Which rows are deleted where others refer to the rest. */
const deleted: Readonly<Record<string, string>> = {
  country: `where code = 'TZ'`,
  organisation: 'where id = 4',
  project: 'where id = 2',
  region: `where name = 'Asia'`,
  theme: `where id = 'health'`,
}

/** Tables that the service alone writes and whose writes leave marks. */
const ofService = ['project_search', 'rendering', 'activity_rows', 'wire_record', 'organisation_record']

const database = await testDatabase()
const { db } = database.store
await db.query(rows)
await grantWriterRole(db, defaultWriterRole, new Date(0))

describe('what marks what', () => {
  it.each(['donation_month', 'disbursement'])(
    'is an organisation that is renamed, by what %s says of it alone',
    async (table) => {
      const marked = new Error('undone')
      let dirty: unknown[] = []
      const work = database.store.transaction(async (db) => {
        await db.query(table === 'disbursement' ? 'delete from donation_month' : 'delete from disbursement')
        await db.query(`update project_version set dirty = false`)
        await db.query(`update organisation set name = 'Renamed' where id = 2`)
        dirty = (await db.query('select project_id as id from project_version where dirty order by 1')).rows
        throw marked
      })
      await expect(work).rejects.toBe(marked)
      expect(dirty).toEqual([{ id: 3 }])
    },
  )

  it('of each write to each column that the writer role may write is what the list beside this test says', async () => {
    const { rows: columns } = await database.store.db.query<{ table: string; column: string; type: string }>(
      `select c.relname as table, a.attname as column, regexp_replace(a.atttypid::regtype::text, '^row_source$', 'text') as type
        from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
          and (has_column_privilege($1, c.oid, a.attnum, 'insert') or c.relname = any ($2))
        order by c.relname = any ($2), c.relname collate "C", a.attnum`,
      [defaultWriterRole, ofService],
    )
    const listed = await database.store.transaction(async (db) => {
      await db.query(`update project_version set dirty = false, version = 0; update organisation_version set version = 0;
        delete from search_change; delete from content_change; delete from segment_change`)
      const tables: string[] = []
      for (const table of new Set(columns.map((column) => column.table))) {
        const found = new Map<string, string[]>()
        const note = async (write: string, statement: string) => {
          const marks = await marksOf(db, statement)
          found.set(marks, [...(found.get(marks) ?? []), write])
        }
        const insert = inserted[table]
        if (insert !== undefined) await note('insert', `insert into ${table} ${insert}`)
        for (const { column, type } of columns.filter((one) => one.table === table)) {
          if (type === 'tsvector') continue
          const to = changed[column] ?? ofType[type]?.(column) ?? `coalesce(${column}, 0) + 1`
          await note(column, `update ${table} set ${column} = ${to}`)
        }
        await note('delete', `delete from ${table} ${deleted[table] ?? ''}`)
        await note('truncate', `truncate ${table} cascade`)
        await note('delete of no row', `delete from ${table} where false`)
        const writes = [...found].map(([marks, names]) => `  ${names.join(', ')}\n    ${marks}\n`)
        tables.push(`${table}\n${writes.join('')}`)
      }
      return tables
    })
    await expect(listed.join('\n')).toMatchFileSnapshot('marks.txt')
  })

  it.each([
    ['names up to 1,000 projects in the marks of lists of hits', 1000, '1000 projects'],
    ['names none of more', 1001, 'any projects'],
  ])('%s', async (_, count, marks) => {
    const found = await database.store.transaction(async (db) => {
      await db.query(`insert into project (id, active, status, title)
        select id, false, 'active', 'Many' from generate_series(101, 100 + ${count}) id; delete from search_change`)
      await db.query(`insert into project_theme select id, 0, 'water' from project where id > 100`)
      const { rows } = await db.query<{ n: number; named: boolean }>(
        `select count(*)::int as n, bool_and(project_id is not null) as named from search_change`,
      )
      await db.query('delete from project where id > 100')
      return rows[0]?.named ? `${rows[0].n} projects` : rows[0]?.n === 1 ? 'any projects' : 'nothing'
    })
    expect(found).toBe(marks)
  })
})

/** What refuses a statement. Which of several references does depends on the order in which they were made. */
const refusals: Readonly<Record<string, string>> = { '23503': 'a reference to the row', '23505': 'a unique key' }

/** The marks that a statement leaves; it is taken back. */
async function marksOf(db: Db, statement: string): Promise<string> {
  await db.query('savepoint before')
  try {
    await db.query(statement)
    return await readMarks(db)
  } catch (error) {
    return `refused: ${refusals[sqlState(error) ?? ''] ?? error}`
  } finally {
    await db.query('rollback to before')
  }
}

async function readMarks(db: Db): Promise<string> {
  const { rows } = await db.query<{ marks: string | null }>(`
    select string_agg(mark || ' ' || marked, '; ' order by mark) as marks from (
      select mark, string_agg(distinct marked, ' ' order by marked) as marked from (
        select 'dirty' as mark, project_id::text as marked from project_version where dirty
        union all select 'moved', project_id::text from project_version where not dirty and version > 0
        union all select 'organisation', organisation_id::text from organisation_version where version > 0
        union all select 'hits', coalesce(project_id::text, 'any') from search_change
        union all select 'content', kind from content_change
        union all select 'segment', segment::text from segment_change
      ) found group by mark
    ) marks`)
  return rows[0]?.marks ?? 'nothing'
}
