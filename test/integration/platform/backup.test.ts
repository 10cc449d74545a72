import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { writeBackup } from '../../../src/platform/database/backup.js'
import { migrate } from '../../../src/platform/database/migrate.js'
import { restoreBackup } from '../../../src/platform/database/restore.js'
import { backUpIfDue } from '../../../src/platform/database/scheduled-backup.js'
import { fillWithEverySource } from '../../support/catalogue/export-proof.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { runsAll, someOf } from '../../support/runner/some-of.js'
import { emptyDatabase, testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const folder = await temporaryFolder()
const database = await testDatabase()
const store = database.store

const signal = new AbortController().signal
const clock = () => new Date('2026-11-21T08:00:00Z')
const nothing = async () => undefined
const whole = path.join(folder, 'whole.sql.gz')
await fillWithEverySource(store, 30)
await writeBackup(store, whole, { clock, signal })
const text = gunzipSync(await readFile(whole)).toString('utf8')

const command = (url: string, ...args: string[]) =>
  runCommandLine(args, { DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' })

describe('giving backup and giving restore', { shuffle: false }, () => {
  it('replaces nothing that has the name, a link to a device too', async () => {
    const link = path.join(folder, 'device')
    await symlink('/dev/null', link)
    expect(await command(database.url, 'backup', link)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`expected a new file, but ${link} is there`),
    })
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
  })

  it('is not tried where there is no room for the store', async () => {
    expect(text).toMatch(/"storeBytes":\d{7,}/)
    const file = path.join(folder, 'large.sql.gz')
    await writeFile(file, gzipSync(text.replace(/"storeBytes":\d+/, `"storeBytes":${2 ** 50}`)))
    const { code, stderr } = await command('postgres://nobody@127.0.0.1:1/none', 'backup', '--verify', file)
    expect(code).toBe(2)
    expect(stderr).toMatch(/the store needs 1073741824 MB in .*, which has \d+ MB free: make room, or set TMPDIR/)
  })

  it('refuses a store with contents, a file that is none, one that is not whole, and a newer one; nothing stays', async () => {
    const taken = await command(database.url, 'restore', whole)
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('the store has projects')])
    const wrong = async (name: string, changed: string, message: string) => {
      const other = path.join(folder, name)
      await writeFile(other, gzipSync(changed))
      const { store: target } = await testDatabase()
      await expect(restoreBackup(target, other, { signal, contentsOf: nothing })).rejects.toThrow(message)
      const { rows } = await target.db.query<{ count: number }>(
        `select (select count(*) from project)::integer + (select count(*) from pg_trigger where tgenabled = 'D')::integer as count`,
      )
      expect(rows).toEqual([{ count: 0 }])
    }
    await wrong('none.sql.gz', 'select 1;\n', 'is not of giving backup')
    await wrong('half.sql.gz', text.slice(0, text.indexOf('copy "project_theme"') + 200), 'it is not whole')
    await wrong('less.sql.gz', text.replace(/(copy "project_search" .*\n).*\n/, '$1'), 'its last line says')
    await wrong('more.sql.gz', text.replace('"summary"', '"strange"'), 'with a column strange')
    await wrong('newer.sql.gz', text.replace(/"schema":\d+/, '"schema":9999'), 'install the newer version first')
  })

  it.runIf(runsAll)('one of an older schema is brought up to date in an empty database', async () => {
    const old = await emptyDatabase()
    await migrate(old.store, undefined, 54)
    await old.store.db.query(
      `insert into project (id, active, status, title) values (7, true, 'active', E'a\\\\.\\n\\\\.\\tb')`,
    )
    const file = path.join(folder, 'old.sql.gz')
    await writeBackup(old.store, file, { clock, signal })
    const other = await emptyDatabase()
    const { migrated } = await restoreBackup(other.store, file, { signal, contentsOf: nothing })
    expect(migrated).toContain('0055-external-ids')
    const { rows } = await other.store.db.query('select title, external_id from project')
    expect(rows).toEqual([{ title: 'a\\.\n\\.\tb', externalId: undefined }])
    const { store: newer } = await testDatabase()
    await expect(restoreBackup(newer, file, { signal, contentsOf: nothing })).rejects.toThrow(
      'restore into an empty database',
    )
  })

  /** What a command prints where backups are kept in this folder. */
  const commandsWith = (directory: string) => async (command: string) => {
    const environment = {
      DATABASE_URL: database.url,
      GIVING_DATA_DIR: folder,
      LOG_LEVEL: 'silent',
      BACKUP_DIR: directory,
    }
    return (await runCommandLine([command], environment)).stdout
  }

  it('once a day into BACKUP_DIR, of which the newest stay; status and doctor say when the last is old', async () => {
    const directory = path.join(folder, 'daily')
    const at = async (time: string) =>
      await backUpIfDue(store, { directory, keep: 2 }, { clock: () => new Date(time), signal })
    expect(await at('2026-11-01T03:37:00Z')).toMatch(/^giving-20261101T033700Z.sql.gz: .* 0 older ones removed$/)
    expect(await at('2026-11-02T03:06:59Z')).toBe('not due')
    await at('2026-11-02T03:07:00Z')
    expect(await at('2026-11-03T03:37:00Z')).toMatch('1 older ones removed')
    expect((await readdir(directory)).sort()).toEqual([
      'giving-20261102T030700Z.sql.gz',
      'giving-20261103T033700Z.sql.gz',
    ])
    const said = commandsWith(directory)
    const old = 'the last backup is of 2026-11-03T03:37:00Z, more than two days ago'
    expect(await said('status')).toContain(old)
    expect(await said('doctor')).toContain(old)
    await backUpIfDue(store, { directory, keep: 2 }, { clock: () => new Date(), signal })
    expect(await said('status')).not.toContain('the last backup')
    expect(await said('doctor')).toMatch('the last one is of')
  })
  it('says why none could be written, until one is, and removes halves that nobody writes any more', async () => {
    const directory = path.join(folder, 'kept')
    const said = commandsWith(directory)
    const at = async (time: number) =>
      await backUpIfDue(store, { directory, keep: 2 }, { clock: () => new Date(time), signal })
    await writeFile(directory, '')
    const now = Date.now()
    await expect(at(now)).rejects.toThrow(/BACKUP_DIR .*kept: EEXIST/)
    const failed = /no backup could be written at [\dTZ:-]+: BACKUP_DIR .*kept: EEXIST/
    expect(await said('status')).toMatch(failed)
    expect(await said('doctor')).toMatch(failed)
    await rm(directory)
    await mkdir(directory)
    const halves = ['giving-20261101T033700Z.sql.gz.part', 'other.part']
    const young = `giving-${new Date(now - 3_600_000).toISOString().replace(/\.\d+|[-:]/g, '')}.sql.gz.part`
    for (const name of [...halves, young]) await writeFile(path.join(directory, name), '')
    await at(now)
    expect((await readdir(directory)).filter((name) => name.endsWith('.part')).sort()).toEqual([young, 'other.part'])
    expect(await said('status')).not.toMatch(/backup/)
    expect(await said('doctor')).toMatch(/none was tried: giving backup --verify FILE/)
  })
})

describe('giving restore', () => {
  it('takes nothing of a backup that an attacker made, and says so in words of an operator', {
    timeout: 300_000,
  }, async () => {
    const { store: target, url } = await testDatabase()
    const whole = path.join(folder, 'empty.sql.gz')
    await writeBackup(target, whole, { clock, signal })
    const text = gunzipSync(await readFile(whole)).toString('utf8')
    const header = (json: string) => text.replace(/^.*/, `-- giving backup 1 ${json}`)
    const table = (json: string) => text.replace(/-- table .*/, `-- table ${json}`)
    const end = (json: string) => text.replace(/-- end .*/, `-- end ${json}`)
    const row = (value: string) => text.replace(/(copy "project" .*\n)/, `$1${value}\n`)
    const schema = /"schema":(\d+)/.exec(text)?.[1]
    const hostile: Record<string, string | Buffer> = {
      'a header that is not JSON': header('{'),
      'a header that is null': header('null'),
      'a header that is a list': header('[]'),
      'a schema with SQL': header(`{"schema":"${schema}; drop table project","donorKeys":[]}`),
      'a schema that is a text': header(`{"schema":"${schema}","donorKeys":[]}`),
      'a schema below zero': header('{"schema":-1,"donorKeys":[]}'),
      'a schema between two': header('{"schema":54.5,"donorKeys":[]}'),
      'no schema': header('{"donorKeys":[]}'),
      'a table that is not JSON': table('{'),
      'a table that is null': table('null'),
      'a table without columns': table('{"name":"project"}'),
      'columns that are a number': table('{"name":"project","columns":7}'),
      'a column that is an object': table('{"name":"project","columns":[{"toString":1}]}'),
      'a table of the server': table('{"name":"pg_authid","columns":["rolname"]}'),
      'a table with SQL': table(
        '{"name":"project\\" (id) from program \'touch /tmp/giving-attacked\' --","columns":["id"]}',
      ),
      'a table of an ancestor': table('{"name":"__proto__","columns":[]}'),
      'an end that is not JSON': end('{'),
      'an end that is null': end('null'),
      'sequences that are a list of nothing': end('{"rows":{},"sequences":[null]}'),
      'a sequence that is a table': end('{"rows":{},"sequences":{"project":["7",true]}}'),
      'a sequence without end': end('{"rows":{},"sequences":{"receipt_number_seq":["99999999999999999999",true]}}'),
      'a row with too few columns': row('7'),
      'bytes that are no UTF-8': Buffer.from(row('\\xff\\xfe'), 'latin1'),
      'a line without end': `-- giving backup 1 ${' '.repeat(40_000_000)}`,
    }
    for (const [what, content] of someOf(Object.entries(hostile), 3)) {
      const file = path.join(folder, 'hostile.sql.gz')
      await writeFile(file, gzipSync(content))
      const { code, stderr } = await command(url, 'restore', file)
      expect(code, what).toBe(2)
      expect(stderr, what).toMatch(/giving backup|does not fit the schema|that the schema lacks/)
      expect(stderr, what).not.toMatch(/\n {4}at /)
      const { rows } = await target.db.query(
        `select (select count(*) from project)::int + (select count(*) from pg_trigger where tgenabled = 'D')::int as n`,
      )
      expect(rows, what).toEqual([{ n: 0 }])
    }
    expect(await lstat('/tmp/giving-attacked').catch(() => undefined)).toBeUndefined()
  })
})
