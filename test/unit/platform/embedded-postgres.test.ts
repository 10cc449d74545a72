import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  draftName,
  getServerPackage,
  openServerPrograms,
  removeLeftovers,
} from '../../../src/platform/embedded-postgres/binaries.js'
import { toOpenError, toServerError } from '../../../src/platform/embedded-postgres/failures.js'
import { countLiveLeases, dropLease, takeLease } from '../../../src/platform/embedded-postgres/leases.js'
import { withLock } from '../../../src/platform/embedded-postgres/lock.js'
import { memorySettings, settingsFor } from '../../../src/platform/embedded-postgres/memory-settings.js'
import { disarmStalePidFile, findPostmaster } from '../../../src/platform/embedded-postgres/postmaster.js'
import {
  findProcessIdentity,
  getOwnIdentity,
  isRunning,
} from '../../../src/platform/embedded-postgres/process-identity.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** Our process id with another start time: what a reused id looks like. */
const reusedId = `${process.pid}-000000000000`

let dir: string
beforeEach(async () => {
  dir = await temporaryFolder()
})

describe('a process identity', () => {
  test('is the same each time and is not mistaken for a reused process id', async () => {
    const own = await getOwnIdentity()
    expect(own).toBe(await findProcessIdentity(process.pid))
    expect(await isRunning(own)).toBe(true)
    expect(await isRunning(reusedId)).toBe(false)
    expect(await isRunning('nonsense')).toBe(false)
    expect(await findProcessIdentity(2147483646)).toBeUndefined()
  })
})

describe('the lock', () => {
  test('lets one in at a time, also within one process, and leaves one mark', async () => {
    let inside = 0
    const seen: number[] = []
    await Promise.all(
      Array.from({ length: 12 }, () =>
        withLock(dir, async () => {
          inside += 1
          await nextTurn()
          seen.push(inside)
          inside -= 1
        }),
      ),
    )
    expect(seen).toEqual(Array(12).fill(1))
    expect(await readdir(dir)).toHaveLength(1)
  })

  test('is free again after its work failed', async () => {
    await expect(withLock(dir, () => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck')
    expect(await withLock(dir, async () => 'in')).toBe('in')
  })

  test('is taken over from a holder that no longer runs, whose process id may be in use again', async () => {
    await symlink(reusedId, path.join(dir, '7'))
    expect(await withLock(dir, async () => readlink(path.join(dir, '8')))).toBe(await getOwnIdentity())
  })

  test('is waited for and then reported when its holder keeps it', async () => {
    await symlink((await findProcessIdentity(process.ppid)) ?? '', path.join(dir, '1'))
    await expect(withLock(dir, async () => 'in', 60)).rejects.toMatchObject({
      code: 'database-unavailable',
      message: expect.stringContaining(`process ${process.ppid} `),
    })
  })
})

describe('leases', () => {
  test('count while their process runs; those of dead processes are forgotten', async () => {
    await writeFile(path.join(dir, `${reusedId}.aaaa`), '')
    const [one, two] = [await takeLease(dir), await takeLease(dir)]
    expect(await countLiveLeases(dir)).toBe(2)
    expect(await readdir(dir)).toHaveLength(2)
    await dropLease(one)
    await dropLease(one)
    expect(await countLiveLeases(dir)).toBe(1)
    await dropLease(two)
    expect(await countLiveLeases(dir)).toBe(0)
  })
})

describe('the server programs', () => {
  test('are refused with advice for a platform that has none', async () => {
    await expect(getServerPackage('win32', 'x64')).rejects.toMatchObject({
      code: 'database-unavailable',
      message: expect.stringMatching(/no PostgreSQL programs for win32-x64.*set DATABASE_URL/),
    })
  })

  test('get the library links that a blocked post-install script did not make, even from two processes at once', async () => {
    const native = await packageIn(dir)
    const open = () => openServerPrograms({ nativeDir: native, version: '18.1', major: '18' }, dir, false)
    expect(await Promise.all([open(), open()])).toEqual([native, native])
    await open()
    expect(await readlink(path.join(native, 'lib/libpq.so.5'))).toBe('libpq.so.5.18')
  })

  test('are copied whole and readable for every user, keyed by version, once', async () => {
    const native = await packageIn(dir)
    const from = { nativeDir: native, version: '18.1', major: '18' }
    const copies = path.join(dir, 'copies')
    const made = await Promise.all([openServerPrograms(from, copies, true), openServerPrograms(from, copies, true)])
    expect(made).toEqual([path.join(copies, 'pg-18.1/native'), path.join(copies, 'pg-18.1/native')])
    expect(await readdir(copies)).toEqual(['pg-18.1'])
    expect(await readlink(path.join(copies, 'pg-18.1/native/lib/libpq.so.5'))).toBe('libpq.so.5.18')
    expect((await lstat(path.join(copies, 'pg-18.1/native/bin/postgres'))).mode & 0o777).toBe(0o755)
    expect((await lstat(path.join(copies, 'pg-18.1/native/lib/libpq.so.5.18'))).mode & 0o777).toBe(0o644)
  })

  test('are not copied where every user may read them already: they have a second name', async () => {
    const native = await packageIn(dir)
    await chmod(path.join(native, 'bin/postgres'), 0o755)
    const from = { nativeDir: native, version: '18.1', major: '18' }
    const copy = await openServerPrograms(from, path.join(dir, 'copies'), true)
    const numberOf = async (file: string) => (await lstat(path.join(copy, file))).ino
    expect(await numberOf('bin/postgres')).toBe((await lstat(path.join(native, 'bin/postgres'))).ino)
    expect((await lstat(path.join(native, 'lib/libpq.so.5.18'))).mode & 0o777).toBe(0o600)
    expect(await numberOf('lib/libpq.so.5.18')).not.toBe((await lstat(path.join(native, 'lib/libpq.so.5.18'))).ino)
    await chmod(path.join(native, 'bin/postgres'), 0o700)
    await openServerPrograms(from, path.join(dir, 'copies'), true)
    expect((await lstat(path.join(copy, 'bin/postgres'))).mode & 0o777).toBe(0o755)
  })

  test('drafts of dead processes are removed, those of living ones stay', async () => {
    const live = await draftName(path.join(dir, 'postgres'))
    await mkdir(live)
    await mkdir(path.join(dir, `postgres.new-${reusedId}.abcd`))
    await removeLeftovers(dir, 'postgres')
    expect(await readdir(dir)).toEqual([path.basename(live)])
  })
})

describe('postmaster.pid', () => {
  test('of another program or of nobody is no server, and is disarmed without losing its shared-memory key', async () => {
    const file = path.join(dir, 'postmaster.pid')
    expect(await findPostmaster(dir)).toBeUndefined()
    await disarmStalePidFile(dir)
    await writeFile(file, `${process.pid}\n${dir}\n1700000000\n15432\n\n127.0.0.1\n  123 456\nready\n`)
    expect(await findPostmaster(dir)).toBeUndefined()
    await disarmStalePidFile(dir)
    const lines = (await readFile(file, 'utf8')).split('\n')
    expect([lines[0], lines[6]]).toEqual(['2147483646', '  123 456'])
  })
})

describe('failures', () => {
  test('tell the reason that PostgreSQL gave, without the lines around it', () => {
    const output = '2026-01-01 LOG:  starting\n2026-01-01 00:00:00 UTC [7] FATAL:  lock file "x" is empty\nHINT:  y\n'
    expect(toServerError(output, 'start', '/d').message).toBe(
      'PostgreSQL could not start in /d: lock file "x" is empty',
    )
  })

  test('tell a full disk and another version apart from the rest', () => {
    const full = toServerError('FATAL:  could not write to file "x": No space left on device', 'start', '/d')
    expect(full).toMatchObject({ code: 'database-unavailable', message: expect.stringContaining('is full') })
    expect(toServerError('FATAL:  database files are incompatible with server', 'start', '/d').code).toBe(
      'database-incompatible',
    )
    const denied = Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/d/lock' })
    expect(toOpenError(denied, '/d').message).toMatch(/may not use \/d\/lock/)
  })
})

describe('the memory of the server', () => {
  test.each([
    ['1 GiB', 2 ** 30, { shared_buffers: 128, effective_cache_size: 512, work_mem: 4 }],
    ['8 GiB', 2 ** 33, { shared_buffers: 1024, effective_cache_size: 4096, work_mem: 8 }],
    ['256 GiB', 2 ** 38, { shared_buffers: 2048, effective_cache_size: 65_536, work_mem: 16 }],
  ])('on a machine with %s', (_name, bytes, settings) => {
    expect(settingsFor(bytes)).toEqual(settings)
  })

  test('is what an operator said with ALTER SYSTEM, for each setting', async () => {
    const names = async () => (await memorySettings(dir)).filter((one) => one !== '-c').map((one) => one.split('=')[0])
    expect(await names()).toEqual(['shared_buffers', 'effective_cache_size', 'work_mem'])
    await writeFile(path.join(dir, 'postgresql.auto.conf'), "# by hand\nwork_mem = '64MB'\n")
    expect(await names()).toEqual(['shared_buffers', 'effective_cache_size'])
  })
})

async function packageIn(root: string): Promise<string> {
  const native = path.join(root, 'package/native')
  await mkdir(path.join(native, 'bin'), { recursive: true })
  await mkdir(path.join(native, 'lib'))
  await writeFile(path.join(native, 'bin/postgres'), 'program', { mode: 0o700 })
  await writeFile(path.join(native, 'lib/libpq.so.5.18'), 'library', { mode: 0o600 })
  await writeFile(
    path.join(native, 'pg-symlinks.json'),
    JSON.stringify([{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]),
  )
  return native
}
