import type { Db } from '../../../../src/platform/database/connection.js'

type ColumnRow = {
  readonly table: string
  readonly about: string | undefined
  readonly column: string
  readonly type: string
  readonly required: boolean
  readonly fallback: string | undefined
  readonly operator: boolean
  readonly meaning: string | undefined
}

/**
 * `docs/reference/store.md`: the tables that the role may write, read from the catalogs: comments, types and privileges. Every
 * column that the role may insert stands under the operator's columns, the rest under the service's.
 *
 * @throws Error when a table or a column that may be written has no comment.
 */
export async function describeStore(db: Db, role: string): Promise<string> {
  const { rows } = await db.query<ColumnRow>(
    `select c.relname as table, obj_description(c.oid, 'pg_class') as about, a.attname as column,
        format_type(a.atttypid, a.atttypmod) as type,
        a.attnotnull and d.adbin is null as required, pg_get_expr(d.adbin, d.adrelid) as fallback,
        has_column_privilege($1, c.oid, a.attnum, 'insert') as operator, col_description(c.oid, a.attnum) as meaning
      from pg_class c join pg_attribute a on a.attrelid = c.oid
        left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
        and a.attnum > 0 and not a.attisdropped and has_any_column_privilege($1, c.oid, 'insert')
      order by c.relname collate "C", a.attnum`,
    [role],
  )
  const { rows: checks } = await db.query<{ table: string; name: string; words: string | undefined; rule: string }>(
    `select c.conrelid::regclass::text as table, c.conname as name,
        case when c.contype <> 'c' then pg_get_constraintdef(c.oid, true) else '' end as rule,
        obj_description(c.oid, 'pg_constraint') as words
      from pg_constraint c
      where c.connamespace = current_schema()::regnamespace and c.contype in ('c', 'f', 'u')
        and has_any_column_privilege($1, c.conrelid, 'insert')
      order by c.conrelid::regclass::text collate "C", c.conname collate "C"`,
    [role],
  )
  const tables = [...new Set(rows.map(({ table }) => table))]
  const described = tables.map((name) =>
    describeTable(
      name,
      rows.filter(({ table }) => table === name),
      checks.filter(({ table }) => table === name),
    ),
  )
  return heading + described.join('\n')
}

function describeTable(
  name: string,
  columns: readonly ColumnRow[],
  checks: readonly { name: string; words: string | undefined; rule: string }[],
): string {
  const about = columns[0]?.about
  if (!about) throw new Error(`the table ${name} may be written and has no comment: add one in a migration`)
  const service = columns.filter(({ operator }) => !operator).map(({ column }) => `\`${column}\``)
  const lines = columns.filter(({ operator }) => operator).map((column) => describeColumn(name, column))
  const rules = checks.map((check) => describeRule(name, check))
  return [
    `## ${name}`,
    '',
    about,
    '',
    '| Column | Type | Needed | Meaning |',
    '|---|---|---|---|',
    ...lines,
    ...(service.length > 0 ? ['', `The service's own columns: ${service.join(', ')}.`] : []),
    ...(rules.length > 0 ? ['', 'Expected, else refused:', '', ...rules] : []),
    '',
  ].join('\n')
}

function describeRule(table: string, { name, words, rule }: { name: string; words: string | undefined; rule: string }) {
  if (rule !== '') return `- \`${name}\`: \`${rule}\``
  const [, column, expected] = /^(\w+): (.+)$/.exec(words ?? '') ?? []
  if (!column) throw new Error(`${name} of ${table} has no comment with a column and words: add one in a migration`)
  return `- \`${column}\`: ${expected}`
}

function describeColumn(table: string, { column, type, required, fallback, meaning }: ColumnRow): string {
  if (!meaning) throw new Error(`${table}.${column} may be written and has no comment: add one in a migration`)
  const needed = required ? 'yes' : fallback === undefined ? 'no' : `no (${fallback.replace(/::\w+$/, '')})`
  return `| \`${column}\` | ${type} | ${needed} | ${meaning} |`
}

const heading = `# The tables that plain SQL may write

A platform whose own tables live in this PostgreSQL database writes its projects straight into the service's tables.
\`giving migrate --writer-role\` makes the role \`giving_writer\` (or the name given), which may read and write exactly
what stands below; \`grant giving_writer to the_platforms_role\` hands it on. The service's own PostgreSQL has \`giving_writer\`
already; make the platform's role there as \`giving_admin\` (docs/reference/files.md). Every change marks the
projects that it concerns, so the next publication renders those and no others. The service's other tables are its own.

A project that is published cannot be deleted, since its IATI identifier stays for ever: set \`active\` to false or
\`status\` to retired. Rows of \`donation_month\` hold sums without any donor; single donations are taken by the API.

What a person would see to be wrong is refused in words, such as \`project.deadline: expected a day from 1900-01-01 to
9999-12-31, got infinity\`:

| What | Bounds |
|---|---|
| numbers | not \`NaN\`, not infinite |
| days of what is planned (\`approved_date\`, \`planned_on\`) | from 1900-01-01 to 60 years ahead; \`deadline\` until 9999-12-31, where a day more than 60 years after the start counts as none |
| days of what has happened (money, reports, changes, pictures) | from 1900-01-01, not in the future; tomorrow (UTC) is taken, since it has begun in the east |
| addresses | \`http://\` or \`https://\` |
| \`currency\` | a code of ISO 4217, the one that the store's money has |
| texts | 100,000 characters; those of a report 4,000,000 |
| \`source\` | \`local\`; rows of another source cannot be changed or deleted |
| months with donations that were made here | cannot be deleted, moved or made smaller than these donations |

PostgreSQL itself refuses a key that another row has, or that no row has. It names column and value in DETAIL: \`Key
(theme_id)=(wat) is not present in table "theme"\`. The service cannot say it sooner: what asks before a row is written would refuse
\`insert ... on conflict\` too.

This page is generated from the database's catalogs by \`npm run schema:dump\`; a test compares both.

`
