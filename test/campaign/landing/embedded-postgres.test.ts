import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../../src/platform/database/migrate.js'
import { openStore } from '../../../src/platform/database/store.js'
import { grantWriterRole } from '../../../src/platform/database/writer-role.js'
import { getServerPackage, openServerPrograms } from '../../../src/platform/embedded-postgres/binaries.js'
import { createCluster } from '../../../src/platform/embedded-postgres/cluster.js'
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { findPlace, openSystemDir, systemDir } from '../../../src/platform/embedded-postgres/place.js'
import { findPostmaster } from '../../../src/platform/embedded-postgres/postmaster.js'
import { openServer, stopServer } from '../../../src/platform/embedded-postgres/server.js'
import { openLauncherFolder, saveRecord } from '../../../src/platform/embedded-postgres/server-record.js'
import { buildLauncher, type LauncherProcess } from '../../support/processes/launcher-process.js'
import { administratorUrl } from '../../support/store/administrator.js'

let launcher: Awaited<ReturnType<typeof buildLauncher>>
let scratch: string
let dataDir: string
/** A cluster to start from, made once: its data directory has data and no server. */
let prepared: EmbeddedPostgres
const clusters = new Set<string>()
const processes: LauncherProcess[] = []
const servers: EmbeddedPostgres[] = []

beforeAll(async () => {
  launcher = await buildLauncher()
  // mkdtemp makes folders that only their owner may enter: for root, the case that needs /var/lib/giving.
  scratch = await mkdtemp(path.join(tmpdir(), 'giving-embedded-'))
  dataDir = path.join(scratch, 'data')
  prepared = await open(dataDir)
  await query(prepared.url, 'create table kept (note text)')
  await query(prepared.url, "insert into kept values ('here')")
  await prepared.release()
})

beforeEach(async () => {
  expect(await findPostmaster(prepared.clusterDir), 'a test left its server running').toBeUndefined()
})

afterEach(async () => {
  for (const running of processes.splice(0)) await running.kill()
  for (const server of servers.splice(0)) await server.release()
  // Whatever a failed test has left: open joins it, release stops it.
  if (await findPostmaster(prepared.clusterDir)) await (await openEmbeddedPostgres({ dataDir })).release()
})

afterAll(async () => {
  for (const dir of [...clusters, scratch]) await rm(dir, { recursive: true, force: true })
  await launcher.remove()
})

describe('the embedded PostgreSQL server', () => {
  test('is UTF-8 and UTC whatever the locale, and keeps its password where only the owner can read it', async () => {
    const server = await open(dataDir)
    const row = await query(
      server.url,
      `select current_database() as database, current_user as "user", current_setting('server_encoding') as encoding,
              current_setting('TimeZone') as zone, current_setting('listen_addresses') as addresses,
              lower('ÀÉ') as lowered,
              (select rolsuper or rolcreaterole or rolcreatedb from pg_roles where rolname = current_user) as powerful`,
    )
    expect(row).toEqual({
      database: 'giving',
      user: 'giving',
      encoding: 'UTF8',
      zone: 'UTC',
      addresses: '127.0.0.1',
      lowered: 'àé',
      powerful: false,
    })
    expect(await query(await administratorUrl(dataDir, server.url), 'show unix_socket_directories')).toEqual({
      unix_socket_directories: '',
    })
    expect((await stat(path.join(dataDir, 'postgres-launcher/server.json'))).mode & 0o777).toBe(0o600)
    await server.release()
  })

  test('stops with the last release and not before', async () => {
    const first = await open(dataDir)
    const second = await open(dataDir)
    expect([first.joined, second.joined, second.url]).toEqual([false, true, first.url])
    await first.release()
    await first.release()
    expect(await query(second.url, 'select note from kept')).toEqual({ note: 'here' })
    await second.release()
    expect(await findPostmaster(second.clusterDir)).toBeUndefined()
    await expect(query(second.url, 'select 1')).rejects.toThrow(/ECONNREFUSED/)
  })

  test('is made once and started once when five processes open it at the same moment', async () => {
    const fresh = path.join(scratch, 'five')
    const five = Array.from({ length: 5 }, () => launch(fresh))
    const opened = await Promise.all(five.map((one) => one.opened))
    for (const { clusterDir } of opened) clusters.add(clusterDir)
    expect(opened.map(({ joined }) => joined).sort()).toEqual([false, true, true, true, true])
    expect(new Set(opened.map(({ url }) => url)).size).toBe(1)
    await Promise.all(five.slice(1).map((one) => one.release()))
    expect(await query(opened[0]?.url ?? '', 'select 1 as one')).toEqual({ one: 1 })
    await five[0]?.release()
    expect(await findPostmaster(opened[0]?.clusterDir ?? '')).toBeUndefined()
  })

  test('outlives a process killed with -9, is adopted by the next one and stopped by it', async () => {
    const owner = launch(dataDir)
    const { url } = await owner.opened
    await owner.kill()
    const next = await open(dataDir)
    expect([next.joined, next.url]).toEqual([true, url])
    await next.release()
    expect(await findPostmaster(next.clusterDir)).toBeUndefined()
  })

  test('goes on while another process uses it, and is stopped when the last one was killed too', async () => {
    const [one, other] = [launch(dataDir), launch(dataDir)]
    const { url, clusterDir } = await one.opened
    await other.opened
    await one.kill()
    // The guard of the killed process looks after 5 s.
    await sleep(7000)
    expect(await query(url, 'select 1 as one')).toEqual({ one: 1 })
    await other.kill()
    await expect.poll(() => findPostmaster(clusterDir), { timeout: 20_000, interval: 200 }).toBeUndefined()
  })

  test('recovers when the server and its owner were killed with -9', async () => {
    const owner = launch(dataDir)
    const { url, clusterDir } = await owner.opened
    await query(url, "update kept set note = 'committed'")
    await owner.kill()
    await killServer(clusterDir)
    const next = await open(dataDir)
    expect(next.joined).toBe(false)
    expect(await query(next.url, 'select note from kept')).toEqual({ note: 'committed' })
    await query(next.url, "update kept set note = 'here'")
    await next.release()
  })

  test('starts although the process id in a stale postmaster.pid now belongs to another program', async () => {
    const owner = launch(dataDir)
    const { clusterDir } = await owner.opened
    await owner.kill()
    await killServer(clusterDir)
    const pidFile = path.join(clusterDir, 'postmaster.pid')
    const [, ...rest] = (await readFile(pidFile, 'utf8')).split('\n')
    await writeFile(pidFile, [process.pid, ...rest].join('\n'))
    const next = await open(dataDir)
    expect(next.joined).toBe(false)
    await next.release()
  })

  test('chooses and remembers another port when its own was taken', async () => {
    const before = await open(dataDir)
    const port = new URL(before.url).port
    await before.release()
    const squatter = createServer().listen(Number(port), '127.0.0.1')
    await new Promise((resolve) => squatter.once('listening', resolve))
    const moved = await open(dataDir)
    expect(new URL(moved.url).port).not.toBe(port)
    await moved.release()
    await new Promise((resolve) => squatter.close(resolve))
    const again = await open(dataDir)
    expect(again.url).toBe(moved.url)
    await again.release()
  })

  test('refuses a database of another major version in one sentence', async () => {
    const file = path.join(prepared.clusterDir, 'PG_VERSION')
    const own = await readFile(file, 'utf8')
    await writeFile(file, '17\n')
    try {
      await expect(openEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
        code: 'database-incompatible',
        message: expect.stringMatching(/was made by PostgreSQL 17 and this program brings PostgreSQL 18/),
      })
    } finally {
      await writeFile(file, own)
    }
  })

  test('leaves nothing half-made when killed while making its database', async () => {
    const fresh = path.join(scratch, 'killed')
    const victim = launch(fresh)
    await victim.logged('making a new database')
    await victim.kill()
    const next = await open(fresh)
    expect(await query(next.url, 'select 1 as one')).toEqual({ one: 1 })
    expect(next.joined).toBe(false)
    await next.release()
    // The initdb that outlived its parent may write on for a moment: an open after that removes what it left.
    const drafts = async () => {
      await (await open(fresh)).release()
      const beside = await readdir(path.dirname(next.clusterDir))
      return beside.filter((name) => name.startsWith(`${path.basename(next.clusterDir)}.`))
    }
    await expect.poll(drafts, { timeout: 15_000 }).toEqual([])
  })

  test('runs for an ordinary user, in a folder with an awkward name, and gets its lost password back', async (context) => {
    const user = ordinaryUser()
    if (typeof user === 'string') {
      console.log(`skipped: ${user}`)
      return context.skip(user)
    }
    const home = path.join(await mkdtemp(path.join(tmpdir(), 'giving-user-')), `we ird $HOME"'`)
    clusters.add(path.dirname(home))
    await mkdir(home)
    await own(user, path.dirname(home), home, launcher.dir)
    const data = path.join(home, 'data')

    const one = launch(data, user)
    const first = await one.opened
    expect(first).toMatchObject({ joined: false, clusterDir: path.join(data, 'postgres') })
    await query(first.url, 'create table kept as select 7 as seven')
    // Whoever runs this test joins the user's server; as root, on the user's cluster.
    const guest = await openEmbeddedPostgres({ dataDir: data })
    expect([guest.joined, guest.url]).toEqual([true, first.url])
    await guest.release()
    await one.release()

    await rm(path.join(data, 'postgres-launcher'), { recursive: true })
    const two = launch(data, user)
    const second = await two.opened
    expect(new URL(second.url).password).not.toBe(new URL(first.url).password)
    expect(await query(second.url, 'select seven from kept')).toEqual({ seven: 7 })
    await two.release()
  })

  test('moves a database whose role was a superuser to one that is none, with all its data', async () => {
    const old = path.join(scratch, 'superuser')
    const folder = await openLauncherFolder(old)
    const place = await findPlace(folder)
    clusters.add(place.clusterDir)
    const from = await getServerPackage()
    const isRoot = process.getuid?.() === 0
    if (isRoot) await openSystemDir()
    const programs = await openServerPrograms(from, isRoot ? systemDir : folder.dir, isRoot)
    const { password } = place.record
    await createCluster(programs, place, password)
    await saveRecord(folder, place.record)
    // What earlier versions made: one role with all rights.
    await openServer(programs, place).then(async ({ port }) => {
      const admin = `postgres://giving_admin:${password}@127.0.0.1:${port}/giving`
      for (const statement of [
        'create role moving superuser',
        `set session authorization moving; drop owned by giving; alter database giving owner to giving_admin; drop role giving;
          alter role giving_admin rename to giving`,
        'drop role moving',
      ]) {
        await query(statement.startsWith('drop role') ? admin.replace('giving_admin', 'giving') : admin, statement)
      }
      const url = admin.replace('giving_admin', 'giving')
      await using store = openStore({ url, max: 2, applicationName: 'old' })
      await migrate(store)
      await grantWriterRole(store.db, 'giving_writer', new Date())
      for (const statement of [
        'create schema queue',
        'create table queue.job (id bigint generated always as identity primary key, kind text)',
        `create type queue.state as enum ('open', 'done')`,
        'create sequence queue.alone',
        `insert into queue.job (kind) values ('kept')`,
        `insert into project (id, active, status, title, source) values (1, true, 'active', 'Kept', 'local')`,
      ]) {
        await store.db.query(statement)
      }
      expect(await query(url, 'select rolsuper from pg_roles where rolname = current_user')).toEqual({ rolsuper: true })
    })
    await stopServer(programs, place)

    const server = await open(old)
    expect(
      await query(
        server.url,
        `select (select title from project), (select kind from queue.job),
          (select rolsuper from pg_roles where rolname = current_user) as super,
          (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where nspname !~ '^(pg_|information_schema)' and relowner <> current_user::regrole) as tables,
          (select count(*)::int from pg_proc p join pg_namespace n on n.oid = p.pronamespace
            where nspname !~ '^(pg_|information_schema)' and proowner <> current_user::regrole) as routines,
          (select count(*)::int from pg_type t join pg_namespace n on n.oid = t.typnamespace
            where nspname !~ '^(pg_|information_schema)' and typowner <> current_user::regrole) as types`,
      ),
    ).toEqual({ title: 'Kept', kind: 'kept', super: false, tables: 0, routines: 0, types: 0 })
    {
      await using store = openStore({ url: server.url, max: 2, applicationName: 'moved' })
      expect((await migrate(store)).applied).toEqual([])
      await grantWriterRole(store.db, 'giving_writer', new Date())
      await store.db.query('drop schema queue cascade')
      await store.db.query('alter table project add column also text')
      await expect(store.db.query(`copy project to program 'cat'`)).rejects.toThrow(/permission denied/)
    }
    await server.release()
    const again = await open(old)
    expect(again.url).toBe(server.url)
    await again.release()
  })

  test('tells a user who has no name, as in a container of any number, why it makes no database', async (context) => {
    const user = { uid: 12_345, gid: 12_345 }
    if (typeof ordinaryUser() === 'string' || process.getuid?.() !== 0) {
      console.log('skipped: only root can try as another user, who must be able to read this checkout')
      return context.skip('only root can try as another user')
    }
    const own = await mkdtemp(path.join(tmpdir(), 'giving-nameless-'))
    clusters.add(own)
    await chown(own, user.uid, user.gid)
    await chmod(launcher.dir, 0o755)
    expect((await launch(path.join(own, 'data'), user).opened).error).toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringMatching(/user id 12345, which has no line in \/etc\/passwd: run as a user that has one/),
    })
  })

  test('tells in one sentence that the data directory is not a folder or not ours', async (context) => {
    const file = path.join(scratch, 'file')
    await writeFile(file, '')
    await expect(openEmbeddedPostgres({ dataDir: file })).rejects.toMatchObject({
      code: 'database-unavailable',
      message: expect.stringContaining('must be a folder'),
    })
    const user = ordinaryUser()
    if (typeof user === 'string' || process.getuid?.() !== 0) {
      console.log('skipped the second half: only root can try as another user')
      return context.skip('only root can try as another user')
    }
    await own(user, launcher.dir)
    const foreign = await launch(dataDir, user).opened
    expect(foreign.error).toMatchObject({ code: 'database-unavailable', message: expect.stringContaining(dataDir) })
  })
})

async function open(dir: string): Promise<EmbeddedPostgres> {
  const server = await openEmbeddedPostgres({ dataDir: dir })
  clusters.add(server.clusterDir)
  servers.push(server)
  return server
}

function launch(dir: string, user?: { readonly uid: number; readonly gid: number }): LauncherProcess {
  const started = launcher.start(dir, user)
  processes.push(started)
  return started
}

async function query(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    // Several statements have several results.
    return [await client.query(text)].flat().at(-1)?.rows[0]
  } finally {
    await client.end()
  }
}

async function killServer(clusterDir: string): Promise<void> {
  const server = await findPostmaster(clusterDir)
  if (server === undefined) throw new Error(`no server runs on ${clusterDir}`)
  process.kill(server.pid, 'SIGKILL')
}

/** The user `nobody` for root, this user otherwise; or why neither will do. */
function ordinaryUser(): { readonly uid: number; readonly gid: number } | string {
  if (process.getuid?.() !== 0) return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  try {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'nobody'])))
    const user = { uid: uid ?? 0, gid: gid ?? 0 }
    execFileSync('test', ['-r', path.resolve(import.meta.dirname, '../../../node_modules/pg/package.json')], {
      ...user,
      cwd: '/',
    })
    return user
  } catch {
    return 'this checkout lies in a folder that the user nobody may not enter, or there is no such user'
  }
}

async function own(user: { readonly uid: number; readonly gid: number }, ...paths: string[]): Promise<void> {
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, ...paths])
}
