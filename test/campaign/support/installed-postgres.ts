import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../../support/servers/free-port.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** The PostgreSQL of this machine, with the programs that ours does not have: pg_dump, pg_restore. */
export type InstalledPostgres = {
  readonly url: string
  readonly major: number
  /** Runs one of its programs on the server; throws with what it said when it fails. */
  run(program: 'pg_dump' | 'pg_restore' | 'dropdb' | 'createdb', args: readonly string[]): void
  /** Starts a standby that follows asynchronously. */
  standby(): Promise<Standby>
  /** kill -9 of the server; its standby lives on. */
  kill(): Promise<void>
  /** Starts it again after that, at the same address, as the primary that it was. */
  comeBack(): Promise<void>
  stop(): Promise<void>
}

type Standby = {
  readonly url: string
  /** Asks its server for one value; the role is a superuser. */
  ask(statement: string): Promise<unknown>
  /** kill -9. */
  kill(): Promise<void>
  /** Waits until it has all that the primary has committed, then cuts it off: what the primary commits later is lost. */
  cutOff(): Promise<void>
  /** Makes it the server, with what it has; gives its address. */
  promote(): Promise<string>
}

const database = 'giving'
const password = 'not secret'

/** Folder of the newest installed server's programs; undefined when there is none with pg_dump beside it. */
function findInstalledPostgres(): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
  const debian = versions.sort((a, b) => Number(b) - Number(a)).map((version) => `/usr/lib/postgresql/${version}/bin`)
  const others = (process.env.PATH ?? '').split(path.delimiter)
  return [...debian, ...others].find((dir) =>
    ['initdb', 'postgres', 'pg_dump', 'pg_restore'].every((program) => existsSync(path.join(dir, program))),
  )
}

/** Why there is no installed PostgreSQL to test with; undefined when there is one. */
export function installedPostgresMissing(): string | undefined {
  if (!findInstalledPostgres()) return 'no PostgreSQL with initdb, postgres, pg_dump and pg_restore is installed'
  return process.getuid?.() === 0 && !postgresAccount() ? 'root has no user "postgres" to run a server as' : undefined
}

export function postgresAccount(): { uid: number; gid: number } | undefined {
  const { status, stdout } = spawnSync('id', ['-u', 'postgres'], { encoding: 'utf8' })
  const gid = spawnSync('id', ['-g', 'postgres'], { encoding: 'utf8' }).stdout
  return status === 0 ? { uid: Number(stdout), gid: Number(gid) } : undefined
}

/**
 * A server of the installed version with an empty UTF-8 database; as root it runs as `postgres`. In a folder that is given
 * it writes through to the disk.
 */
export async function startInstalledPostgres(given?: string): Promise<InstalledPostgres> {
  const bin = findInstalledPostgres() ?? ''
  const account = process.getuid?.() === 0 ? postgresAccount() : undefined
  const dir = given ?? (await temporaryFolder())
  const cluster = path.join(dir, 'cluster')
  const passwordFile = path.join(dir, 'password')
  await writeFile(passwordFile, password)
  await chmod(dir, 0o755)
  if (account) for (const file of [dir, passwordFile]) chownSync(file, account.uid, account.gid)
  const options = { cwd: '/', encoding: 'utf8', ...account } as const
  const initdb = ['-D', cluster, '-E', 'UTF8', '--no-locale', '-A', 'scram-sha-256', '-U', database]
  const made = spawnSync(path.join(bin, 'initdb'), [...initdb, `--pwfile=${passwordFile}`], options)
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
  const settings = [
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'unix_socket_directories=',
    '-c',
    `fsync=${given ? 'on' : 'off'}`,
  ]
  const servers: { readonly server: ReturnType<typeof spawn>; readonly ended: Promise<void> }[] = []
  const start = async (folder: string, port: number) => {
    const server = spawn(path.join(bin, 'postgres'), ['-D', folder, '-p', `${port}`, ...settings], {
      cwd: '/',
      stdio: 'ignore',
      ...account,
    })
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
    servers.push({ server, ended })
    const address = (name: string) => `postgres://${database}:${encodeURIComponent(password)}@127.0.0.1:${port}/${name}`
    await connectable(address('postgres'), server)
    return { server, ended, port, address }
  }
  let primary = await start(cluster, await freePort())
  const { port, address } = primary
  const run: InstalledPostgres['run'] = (program, args) => {
    const env = { ...process.env, PGPASSWORD: password }
    const where = ['-h', '127.0.0.1', '-p', `${port}`, '-U', database]
    const { status, stderr } = spawnSync(path.join(bin, program), [...where, ...args], { encoding: 'utf8', env })
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`)
  }
  run('createdb', [database])
  const { stdout } = spawnSync(path.join(bin, 'postgres'), ['--version'], { encoding: 'utf8' })
  return {
    url: address(database),
    major: Number(/ (\d+)/.exec(stdout)?.[1]),
    run,
    standby: async () => {
      const folder = path.join(dir, `standby-${servers.length}`)
      const env = { ...process.env, PGPASSWORD: password }
      const from = ['-h', '127.0.0.1', '-p', `${port}`, '-U', database, '-D', folder, '-R', '-c', 'fast']
      const copied = spawnSync(path.join(bin, 'pg_basebackup'), from, { ...options, env })
      if (copied.status !== 0) throw new Error(`pg_basebackup failed: ${copied.stderr}`)
      const { address: standbyAddress, server: one, ended: gone } = await start(folder, await freePort())
      return {
        url: standbyAddress(database),
        ask: async (statement) => (await ask(standbyAddress(database), statement))[0],
        kill: async () => {
          one.kill('SIGKILL')
          await gone
        },
        cutOff: async () => {
          const [at] = await ask(address(database), 'select pg_current_wal_flush_lsn()::text as value')
          for (let has = false; !has; ) {
            const [value] = await ask(standbyAddress(database), `select pg_last_wal_replay_lsn() >= '${at}' as value`)
            has = value === true
          }
          await ask(standbyAddress(database), `alter system set primary_conninfo = ''`)
          await ask(standbyAddress(database), 'select pg_reload_conf() as value')
          for (let following = true; following; ) {
            following =
              (await ask(standbyAddress(database), 'select pid as value from pg_stat_wal_receiver')).length > 0
          }
        },
        promote: async () => {
          await ask(standbyAddress(database), 'select pg_promote() as value')
          return standbyAddress(database)
        },
      }
    },
    kill: async () => {
      primary.server.kill('SIGKILL')
      await primary.ended
    },
    comeBack: async () => {
      // The processes of the one that was killed end by themselves, and their memory with them.
      for (let tries = 0; ; tries++) {
        try {
          primary = await start(cluster, port)
          return
        } catch (error) {
          if (tries > 50) throw error
          await sleep(100)
        }
      }
    },
    stop: async () => {
      for (const { server: one } of servers) one.kill('SIGINT')
      await Promise.all(servers.map((one) => one.ended))
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ value: unknown }>(statement)
  await client.end()
  return rows.map(({ value }) => value)
}

async function connectable(url: string, server: ReturnType<typeof spawn>): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (server.exitCode !== null) throw error
      await sleep(50)
    }
  }
}
