import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { ServiceError } from '../../kernel/errors.js'
import { draftName } from './binaries.js'
import { toServerError, useYourOwnServer } from './failures.js'
import type { ClusterPlace, Place } from './place.js'
import { runServerProgram } from './program.js'

/** The one database of a cluster. */
export const databaseName = 'giving'

/** The role of the service: it owns the database, and is no superuser. */
export const serviceRole = 'giving'

// The bootstrap role, a superuser, which nothing but the operator uses.
const administratorRole = 'giving_admin'

/**
 * Settings of a new cluster. It serves this machine only, so it has no socket and no replication. Statements and row
 * values stay out of its log, since they can contain donors' data.
 */
const settings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
}

/**
 * Makes the cluster of a place: UTF-8 whatever the machine's locale, one database, and two roles with their passwords.
 * It is made under another name and renamed, so that a kill in the middle leaves nothing half-made.
 * Throws `database-unavailable` with the reason that PostgreSQL gave, or `aborted` by the signal.
 */
export async function createCluster(
  nativeDir: string,
  { clusterDir, user, record }: Place,
  adminPassword: string,
  signal?: AbortSignal,
): Promise<void> {
  if (!user) refuseNamelessUser()
  const draft = await draftName(clusterDir)
  const cluster = join(draft, 'cluster')
  const passwordFile = join(draft, 'password')
  try {
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, adminPassword, { mode: 0o600 })
    if (user) for (const path of [draft, passwordFile]) await chown(path, user.uid, user.gid)

    const initdb = await runServerProgram(
      join(nativeDir, 'bin', 'initdb'),
      [
        `--pgdata=${cluster}`,
        '--encoding=UTF8',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-locale',
        '--auth=scram-sha-256',
        `--username=${administratorRole}`,
        `--pwfile=${passwordFile}`,
        '--no-instructions',
        ...Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`),
      ],
      user,
      '',
      signal,
    )
    if (initdb.code !== 0) throw toServerError(initdb.output, 'make a database', clusterDir)
    await runSingleUser(nativeDir, cluster, { clusterDir, user }, 'template1', [
      `create role ${serviceRole} login password '${record.password}'`,
      `create database ${databaseName} owner ${serviceRole} encoding 'UTF8' template template0 strategy file_copy`,
      ...rolesOfService,
    ])
    await rename(cluster, clusterDir)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Throws `configuration-invalid` where this process's user has no name, as initdb needs: containers may run as any number. */
function refuseNamelessUser(): void {
  try {
    userInfo()
  } catch (cause) {
    const user = `user id ${process.getuid?.()}`
    const message = `PostgreSQL makes no database as ${user}, which has no line in /etc/passwd: run as a user that has one (that of the image, say), or ${useYourOwnServer}`
    throw new ServiceError('configuration-invalid', message, { cause })
  }
}

/**
 * Gives both roles their passwords, after the record was lost, and takes the rights of a superuser from the service's
 * role in a cluster that was made when it was the bootstrap role. The server must be down. A kill in the middle changes
 * nothing.
 */
export async function repairRoles(nativeDir: string, place: Place, adminPassword: string): Promise<void> {
  await runSingleUser(nativeDir, place.clusterDir, place, databaseName, [
    'begin',
    // A session cannot rename its own role.
    'create role giving_repair superuser',
    'set session authorization giving_repair',
    separateRoles,
    `set session authorization ${administratorRole}`,
    'drop role giving_repair',
    ...rolesOfService,
    `alter role ${serviceRole} password '${place.record.password}'`,
    `alter role ${administratorRole} password '${adminPassword}'`,
    'commit',
  ])
}

/** What the service's role needs beside its own schema: to see running transactions of all roles, and to pass on one role. */
const rolesOfService = [
  `grant pg_read_all_stats to ${serviceRole}`,
  // The role of `giving migrate --writer-role`, which the service's role may not make.
  `do $$ begin
    if not exists (select from pg_roles where rolname = 'giving_writer') then create role giving_writer nologin; end if;
  end $$`,
  `grant giving_writer to ${serviceRole} with admin option`,
]

/** Where the bootstrap role (id 10) has the service's name: renames it, and gives all it owns to a new role of that name. */
const separateRoles = `
  do $$ declare statement text; begin
    if not exists (select from pg_roles where oid = 10 and rolname = '${serviceRole}') then return; end if;
    alter role ${serviceRole} rename to ${administratorRole};
    create role ${serviceRole} login;
    alter database ${databaseName} owner to ${serviceRole};
    for statement in
      with own_schema as (select oid, nspname, nspowner from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'),
        part as (select classid, objid from pg_depend where deptype in ('a', 'i', 'e'))
      select format('alter schema %I owner to ${serviceRole}', nspname) from own_schema where nspowner = 10
      union all
      select format('alter table %s owner to ${serviceRole}', c.oid::regclass)
        from pg_class c join own_schema s on s.oid = c.relnamespace
        where c.relowner = 10 and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
          and not exists (select from part where classid = 'pg_class'::regclass and objid = c.oid)
      union all
      select format('alter routine %s owner to ${serviceRole}', p.oid::regprocedure)
        from pg_proc p join own_schema s on s.oid = p.pronamespace
        where p.proowner = 10 and not exists (select from part where classid = 'pg_proc'::regclass and objid = p.oid)
      union all
      select format('alter type %s owner to ${serviceRole}', t.oid::regtype)
        from pg_type t join own_schema s on s.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
        where t.typowner = 10 and (t.typtype in ('d', 'e', 'r') or c.relkind = 'c')
          and not exists (select from part where classid = 'pg_type'::regclass and objid = t.oid)
      union all
      select format('alter statistics %I.%I owner to ${serviceRole}', s.nspname, x.stxname)
        from pg_statistic_ext x join own_schema s on s.oid = x.stxnamespace where x.stxowner = 10
    loop execute statement; end loop;
  end $$`

/**
 * Runs statements without a server, on the cluster of a place or on its draft in `dir`; `exit_on_error` because single-user
 * mode otherwise exits with 0 after an error.
 */
async function runSingleUser(
  nativeDir: string,
  dir: string,
  { clusterDir, user }: ClusterPlace,
  database: string,
  statements: readonly string[],
): Promise<void> {
  const args = ['--single', '-D', dir, '-c', 'exit_on_error=on', database]
  // A line is a statement.
  const input = statements.map((statement) => `${statement.replace(/\s*\n\s*/g, ' ').trim()}\n`).join('')
  const { code, output } = await runServerProgram(join(nativeDir, 'bin', 'postgres'), args, user, input)
  if (code !== 0) throw toServerError(output, 'prepare its database', clusterDir)
}
