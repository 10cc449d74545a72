import { chown, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { draftName } from './binaries.js'
import { toServerError } from './failures.js'
import type { ClusterPlace, Place } from './place.js'
import { runServerProgram } from './program.js'

/** The one database of a cluster, and its owner. */
export const databaseName = 'giving'

/**
 * Settings of a new cluster. It serves this machine only, so it has no socket, no replication and no JIT. Statements and row
 * values stay out of its log, since they can contain donors' data.
 */
const settings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
}

/**
 * Makes the cluster of a place: UTF-8 whatever the machine's locale, one database, one user with the record's password. It is
 * made under another name and renamed, so that a kill in the middle leaves nothing half-made.
 * Throws `database-unavailable` with the reason that PostgreSQL gave.
 */
export async function createCluster(nativeDir: string, { clusterDir, user, record }: Place): Promise<void> {
  const draft = await draftName(clusterDir)
  const cluster = join(draft, 'cluster')
  const passwordFile = join(draft, 'password')
  try {
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, record.password, { mode: 0o600 })
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
        `--username=${databaseName}`,
        `--pwfile=${passwordFile}`,
        '--no-instructions',
        ...Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`),
      ],
      user,
    )
    if (initdb.code !== 0) throw toServerError(initdb.output, 'make a database', clusterDir)
    await runSingleUser(
      nativeDir,
      cluster,
      { clusterDir, user },
      `create database ${databaseName} encoding 'UTF8' template template0`,
    )
    await rename(cluster, clusterDir)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Gives the database user the record's password again, after the record was lost. The server must be down. */
export async function resetPassword(nativeDir: string, place: Place): Promise<void> {
  const statement = `alter role ${databaseName} password '${place.record.password}'`
  await runSingleUser(nativeDir, place.clusterDir, place, statement)
}

/**
 * Runs one statement without a server, on the cluster of a place or on its draft in `dir`; `exit_on_error` because single-user
 * mode otherwise exits with 0 after an error.
 */
async function runSingleUser(
  nativeDir: string,
  dir: string,
  { clusterDir, user }: ClusterPlace,
  statement: string,
): Promise<void> {
  const args = ['--single', '-D', dir, '-c', 'exit_on_error=on', 'template1']
  const { code, output } = await runServerProgram(join(nativeDir, 'bin', 'postgres'), args, user, `${statement}\n`)
  if (code !== 0) throw toServerError(output, 'prepare its database', clusterDir)
}
