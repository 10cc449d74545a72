import { ServiceError } from '../../kernel/errors.js'
import { type Db, sqlState } from './connection.js'
import { recordFact } from './facts.js'

/** The tables that a platform writes with plain SQL, each with the columns that stay the service's own. */
const writable = {
  country: [],
  disbursement: ['id'],
  donation_month: ['itemised'],
  donation_option: [],
  organisation: ['unknown_fields'],
  organisation_country: [],
  organisation_theme: [],
  payout_plan: [],
  photo: [],
  progress_report: ['digest'],
  project: ['first_seen_on', 'operator_state', 'original_goal', 'source_hash', 'totals_changed_at', 'unknown_fields'],
  project_country: [],
  project_sdg: [],
  project_theme: [],
  region: [],
  report_image: [],
  theme: [],
  theme_alias: [],
  video: [],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** The name of the role when none is given. */
export const defaultWriterRole = 'giving_writer'

/**
 * Makes the role if it is missing and lets it read and write the operator's columns of the tables above, and nothing
 * else. The role cannot log in: grant it to the platform's own role. Throws `configuration-invalid` when the role is
 * missing and the service's own role may not make it.
 */
export async function grantWriterRole(db: Db, role: string, at: Date): Promise<void> {
  await createRole(db, role)
  await grantColumns(db, role)
  await recordFact(db, 'writer-role', role, at)
}

/** Grants the recorded role what it may write in the schema as it is now; nothing when no role is recorded. */
export async function refreshWriterRole(db: Db): Promise<void> {
  const { rows } = await db.query<{ role: string }>(
    `select f.value as role from store_fact f join pg_roles r on r.rolname = f.value where f.name = 'writer-role'`,
  )
  if (rows[0]) await grantColumns(db, rows[0].role)
}

async function grantColumns(db: Db, role: string): Promise<void> {
  const { rows } = await db.query<{ statement: string }>(grants, [role, JSON.stringify(writable)])
  for (const { statement } of rows) await db.query(statement)
}

const grants = `
  with writable as (
    select t.name, to_regclass(quote_ident(t.name)) as oid,
      array(select json_array_elements_text(t.service)) as service
    from json_each($2::json) as t (name, service)
  ), columns as (
    select w.name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as list
    from writable w join pg_attribute a on a.attrelid = w.oid
    where a.attnum > 0 and not a.attisdropped and a.attname <> all (w.service)
    group by w.name
  )
  select format('grant usage on schema %I to %I', current_schema(), $1::text) as statement
  union all select format('revoke all on table %I from %I', name, $1::text) from columns
  union all select format('grant select, delete, insert (%s), update (%s) on table %I to %I', list, list, name, $1::text)
    from columns`

async function createRole(db: Db, role: string): Promise<void> {
  const { rowCount } = await db.query('select from pg_roles where rolname = $1', [role])
  if (rowCount > 0) return
  const { rows } = await db.query<{ statement: string }>(
    `select format('create role %I nologin', $1::text) as statement`,
    [role],
  )
  const statement = rows[0]?.statement ?? ''
  try {
    await db.query(statement)
  } catch (error) {
    // Another database of the same server made it meanwhile.
    if (sqlState(error) === '42710' || sqlState(error) === '23505') return
    if (sqlState(error) !== '42501') throw error
    throw new ServiceError(
      'configuration-invalid',
      `the role ${role} does not exist and the service's role may not make it: run "${statement}" as an administrator, then this command again`,
    )
  }
}
