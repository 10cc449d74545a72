import type { Db } from './connection.js'

/** What a PostgreSQL server says of itself and of the role that asks. */
export type ServerFacts = {
  /** For example 180004. */
  readonly version: number
  readonly encoding: string
  readonly readOnly: boolean
  readonly superuser: boolean
  /** Whether the role may make tables in the database's own schema. */
  readonly mayCreate: boolean
  /** Connections that ordinary roles may have, and those that are open. */
  readonly connections: { readonly most: number; readonly open: number }
  /** How many processes of each service have connections to the database. */
  readonly processes: { readonly api: number; readonly worker: number; readonly start: number }
}

/** The facts of the server that this connection leads to. */
export async function readServerFacts(db: Db): Promise<ServerFacts> {
  const { rows } = await db.query<
    Omit<ServerFacts, 'connections' | 'processes'> &
      ServerFacts['processes'] & { readonly most: number; readonly open: number }
  >(
    `select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding,
      current_setting('transaction_read_only')::boolean as read_only,
      (select rolsuper from pg_roles where rolname = current_user) as superuser,
      has_schema_privilege(coalesce(current_schema(), 'public'), 'create') as may_create,
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as most,
      (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') as open, p.*
      from (select count(distinct name) filter (where name ~ '^giving api ')::integer as api,
        count(distinct name) filter (where name ~ '^giving worker ')::integer as worker,
        count(distinct name) filter (where name ~ '^giving start ')::integer as start
        from (select application_name as name from pg_stat_activity where datname = current_database()) one) p`,
  )
  if (!rows[0]) throw new Error('the database said nothing of itself')
  const { most, open, api, worker, start, ...facts } = rows[0]
  return { ...facts, connections: { most, open }, processes: { api, worker, start } }
}
