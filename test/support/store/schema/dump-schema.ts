import type { Db } from '../../../../src/platform/database/connection.js'

/**
 * The schema `public` as SQL that makes it again in an empty database: `schema.sql`. The same schema gives the same
 * text on every supported version of PostgreSQL, whatever order its objects were made in. Give it one transaction
 * (`store.snapshot`), since it reads the catalogs in several statements.
 *
 * @throws Error when the schema holds a kind of object that this function does not write.
 */
export async function dumpSchema(db: Db): Promise<string> {
  // The catalogs' own functions leave out the schema of what the search path finds.
  await db.query(`select set_config('search_path', 'public', true)`)
  await refuseUnknownKinds(db)
  const sections = [
    ['Domains', await lines(db, domains)],
    ['Sequences', await lines(db, sequences)],
    ['Functions that defaults call', await functions(db, true)],
    ['Tables', await tables(db)],
    ['References between tables', await lines(db, references)],
    ['Constraints that rows from before may break', await lines(db, unvalidated)],
    ['Indexes', await lines(db, indexes)],
    ['Functions', await functions(db, false)],
    ['Triggers', await lines(db, triggers)],
  ] as const
  const written = sections
    .filter(([, statements]) => statements.length > 0)
    .map(([title, statements]) => `-- ${title}\n\n${statements.join('\n').trimEnd()}\n`)
  return [heading, ...written].join('\n')
}

const heading = `-- What the migrations make, read back from PostgreSQL's catalogs. Do not edit: change the migrations, then run
-- npm run schema:dump. A test compares this file with a freshly migrated database.

-- Functions may name what comes after them.
set check_function_bodies = off;
`

const ours = `(select oid from pg_namespace where nspname = 'public')`

const domains = `
  select format('create domain %I as %s%s%s%s;', t.typname, format_type(t.typbasetype, t.typtypmod),
    case when t.typdefault is not null then ' default ' || t.typdefault else '' end,
    case when t.typnotnull then ' not null' else '' end,
    coalesce((
      select string_agg(format(' constraint %I %s', c.conname, pg_get_constraintdef(c.oid, true)), ''
        order by c.conname collate "C")
      from pg_constraint c where c.contypid = t.oid and c.contype = 'c'), '')) as line
  from pg_type t
  where t.typnamespace = ${ours} and t.typtype = 'd'
  order by t.typname collate "C"`

// The sequences of identity columns belong to their column (dependency type i) and are written with it.
const sequences = `
  select format('create sequence %I as %s increment by %s minvalue %s maxvalue %s start with %s cache %s%s;', c.relname,
    format_type(s.seqtypid, null), s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache,
    case when s.seqcycle then ' cycle' else '' end) as line
  from pg_sequence s join pg_class c on c.oid = s.seqrelid
  where c.relnamespace = ${ours}
    and not exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i')
  order by c.relname collate "C"`

// References can be circular, so all of them come after the tables.
const references = `
  select format(E'alter table %I add constraint %I\\n  %s;', c.relname, k.conname, pg_get_constraintdef(k.oid, true))
    as line
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where c.relnamespace = ${ours} and k.contype = 'f'
  order by c.relname collate "C", k.conname collate "C"`

// Indexes of constraints are written with their table.
const indexes = `
  select pg_get_indexdef(i.indexrelid, 0, true) || ';' as line
  from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
  where c.relnamespace = ${ours} and not exists (select from pg_constraint k where k.conindid = c.oid and k.contype <> 'f')
  order by t.relname collate "C", c.relname collate "C"`

// Within "create table" PostgreSQL takes "not valid" for valid.
const unvalidated = `
  select format('alter table %I add constraint %I %s;', c.relname, k.conname, pg_get_constraintdef(k.oid, true)) as line
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where c.relnamespace = ${ours} and k.contype = 'c' and not k.convalidated
  order by c.relname collate "C", k.conname collate "C"`

const triggers = `
  select replace(pg_get_triggerdef(g.oid, true), ' EXECUTE FUNCTION ', E'\\n  EXECUTE FUNCTION ') || ';' as line
  from pg_trigger g join pg_class c on c.oid = g.tgrelid
  where c.relnamespace = ${ours} and not g.tgisinternal
  order by c.relname collate "C", g.tgname collate "C"`

async function lines(db: Db, query: string): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(query)
  return rows.map(({ line }) => line)
}

type TableRow = {
  readonly name: string
  readonly persistence: 'p' | 'u'
  readonly settings: string | undefined
  readonly columns: readonly string[]
  readonly constraints: readonly string[]
  readonly storage: readonly string[]
}

// Newer versions of PostgreSQL have more keywords (json) and quote more; a column needs quotes only for a reserved one.
const columnName = `
  case when a.attname ~ '^[a-z_][a-z0-9_]*$'
      and not exists (select from pg_get_keywords() where word = a.attname and catcode in ('R', 'T'))
    then a.attname else quote_ident(a.attname) end`

// PostgreSQL 18 keeps "not null" as a constraint too (contype n); older ones only with the column, where all have it.
const tablesQuery = `
  select quote_ident(c.relname) as name, c.relpersistence as persistence, array_to_string(c.reloptions, ', ') as settings,
    array(
      select concat(${columnName}, ' ', format_type(a.atttypid, a.atttypmod),
        case when a.attcollation not in (0, t.typcollation) then ' collate ' || a.attcollation::regcollation end,
        case when a.attgenerated = 's' then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid, true))
          when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid, true) end,
        case a.attidentity when 'a' then ' generated always as identity'
          when 'd' then ' generated by default as identity' end,
        case when a.attnotnull then ' not null' end)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      order by a.attnum) as columns,
    array(
      select format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid, true))
      from pg_constraint k
      where k.conrelid = c.oid and k.contype in ('p', 'u', 'c', 'x') and k.convalidated
      order by array_position(array['p', 'u', 'x', 'c'], k.contype::text), k.conname collate "C") as constraints,
    array(
      select format('alter table %I alter column %I set storage %s;', c.relname, a.attname,
        case a.attstorage when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attstorage <> t.typstorage
      order by a.attname collate "C") as storage
  from pg_class c
  where c.relnamespace = ${ours} and c.relkind = 'r'
  order by c.relname collate "C"`

async function tables(db: Db): Promise<string[]> {
  const { rows } = await db.query<TableRow>(tablesQuery)
  return rows.map(({ name, persistence, settings, columns, constraints, storage }) => {
    const unlogged = persistence === 'u' ? 'unlogged ' : ''
    const withSettings = settings === undefined ? '' : ` with (${settings})`
    const body = [...columns, ...constraints].map((line) => `  ${line}`).join(',\n')
    const create = `create ${unlogged}table ${name} (\n${body}\n)${withSettings};`
    return `${[create, ...storage].join('\n')}\n`
  })
}

async function functions(db: Db, inDefaults: boolean): Promise<string[]> {
  const found = await lines(
    db,
    `select pg_get_functiondef(p.oid) as line
     from pg_proc p
     where p.pronamespace = ${ours} and p.prokind in ('f', 'p') and ${inDefaults} = exists (select from pg_depend d
       where d.classid = 'pg_attrdef'::regclass and d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid)
     order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"`,
  )
  return found.map((line) => `${line.trimEnd()};\n`)
}

/** Throws for objects that would be missing from the file without notice. */
async function refuseUnknownKinds(db: Db): Promise<void> {
  const unknown = await lines(
    db,
    `select * from (
       select format('relation %s (kind %s)', relname, relkind) as line
         from pg_class where relnamespace = ${ours} and relkind not in ('r', 'i', 'S', 't')
       union all select format('type %s', typname)
         from pg_type where typnamespace = ${ours} and typtype in ('e', 'r', 'm')
       union all select format('function %s (kind %s)', proname, prokind)
         from pg_proc where pronamespace = ${ours} and prokind not in ('f', 'p')
       union all select format('statistics %s', stxname) from pg_statistic_ext where stxnamespace = ${ours}
       union all select format('row policy %s', polname)
         from pg_policy join pg_class c on c.oid = polrelid where c.relnamespace = ${ours}
       union all select format('rule %s', rulename)
         from pg_rewrite join pg_class c on c.oid = ev_class where c.relnamespace = ${ours} and c.relkind = 'r'
     ) found order by line collate "C"`,
  )
  if (unknown.length > 0)
    throw new Error(`test/support/store/schema/dump-schema.ts cannot write these yet: ${unknown.join(', ')}`)
}
