import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { userInfo } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { openBucket } from '../../../src/extensions/bucket/bucket.js'
import { openFolder } from '../../../src/extensions/sources/folder-place.js'
import { placeLimits, type SourcePlace } from '../../../src/extensions/sources/place.js'
import { openS3 } from '../../../src/extensions/sources/s3-place.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import { transpileProgram } from '../../support/commands/cli.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { startBucketServer } from '../../support/servers/bucket-server.js'
import { newSshKeys, startSftpServer } from '../../support/servers/sftp-server.js'
import { startProxy } from '../../support/servers/stalling-proxy.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const folder = await temporaryFolder()
const { store, url } = await testDatabase()
const environment = {
  ...{ DATABASE_URL: url, GIVING_DATA_DIR: path.join(folder, 'data'), LOG_LEVEL: 'silent' },
  ALLOW_PRIVATE_NETWORKS: 'true',
}
await giving('import', await file('projects.csv', 'id,title,status\n1,Wells,active\n2,School,active\n'))

async function giving(...args: readonly string[]) {
  const ended = await runCommandLine([...args, '--json'], environment)
  const printed = ended.stdout === '' ? {} : (JSON.parse(ended.stdout) as Record<string, unknown>)
  return { code: ended.code, stderr: ended.stderr, ...printed }
}

/** A file that nobody is writing any more; whoever reads it now goes on with the earlier one. */
async function file(name: string, text: string, age = 60_000): Promise<string> {
  const at = path.join(folder, name)
  await mkdir(path.dirname(at), { recursive: true })
  await writeFile(`${at}.part`, text, { mode: 0o600 })
  const past = new Date(Date.now() - age)
  await utimes(`${at}.part`, past, past)
  await rename(`${at}.part`, at)
  return at
}

const head = 'project,date,amount,currency,reference\n'
const gifts = (prefix: string, from: number, to: number, project = 1) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${project},2026-03-05,10,USD,${prefix}-${from + at}\n`).join('')

/** How many gifts the store has; each counts whole, and the books agree. */
async function wholeGifts(): Promise<number> {
  const { rows } = await store.db.query<{ gifts: number; sum: number }>(
    `select (select count(*)::integer from imported_gift) as gifts, sum(funding)::integer as sum from project`,
  )
  expect(rows[0]?.sum).toBe((rows[0]?.gifts ?? 0) * 10)
  expect(await store.snapshot((db) => listDifferences(db, 3))).toEqual([])
  return rows[0]?.gifts ?? 0
}

/** A place of each form, to which a file can be put. */
type Place = { readonly options: readonly string[]; put(text: string): Promise<unknown> }
const closing: AsyncDisposable[] = []
afterAll(async () => {
  for (const one of closing) await one[Symbol.asyncDispose]()
})

const forms: Readonly<Record<string, () => Promise<Place>>> = {
  folder: async () => ({
    options: ['--from', path.join(folder, 'drop')],
    put: (text) => file('drop/gifts.csv', text, 60_000 + text.length),
  }),
  http: async () => {
    let text = ''
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': Buffer.byteLength(text) }).end(text)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closing.push({ [Symbol.asyncDispose]: async () => void server.close() })
    return {
      options: ['--from', `http://127.0.0.1:${(server.address() as AddressInfo).port}/gifts.csv`],
      put: async (now) => {
        text = now
      },
    }
  },
  bucket: async () => {
    const server = await startBucketServer()
    closing.push(server)
    const { endpoint = '', name, keys } = server.settings
    const bucket = await openBucket(server.settings, new AbortController().signal)
    const secret = await file('s3-keys', `${keys?.accessKeyId}:${keys?.secretAccessKey}\n`)
    return {
      options: ['--from', `s3://${name}/gifts.csv?endpoint=${endpoint}`, '--secret-file', secret],
      put: async (text) => {
        const sha256 = createHash('sha256').update(text).digest('hex')
        await bucket.put({ key: 'gifts.csv', body: Buffer.from(text), mediaType: 'text/csv', sha256, lifetime: 'live' })
      },
    }
  },
  sftp: async () => {
    const keys = newSshKeys()
    const secret = await file('sftp-key', keys.private)
    const server = await startSftpServer(path.join(folder, 'sftp'), { publicKey: keys.public, password: 'none' })
    closing.push(server)
    const from = `sftp://giving@127.0.0.1:${server.port}/gifts.csv`
    return {
      options: ['--from', from, '--secret-file', secret, '--host-key', server.hostKey],
      put: (text) => file('sftp/gifts.csv', text, 60_000 + text.length),
    }
  },
}

describe('a source of any form', () => {
  it.each(Object.entries(forms))('%s: brings nothing of half a record, and all of what follows', async (form, open) => {
    const { options, put } = await open()
    const all = head + gifts(form, 1, 40)
    await put(head + gifts(form, 1, 20))
    await giving('sources', 'add', form, '--kind', 'gifts', '--schedule', '30 1 * * *', ...options)
    expect(await giving('sources', 'run', form)).toMatchObject({ outcome: 'imported' })
    const before = await wholeGifts()
    const faults: Readonly<Record<string, string>> = {
      empty: '',
      'the header alone': head,
      // In the middle of a line: a number may have lost its digits.
      halved: all.slice(0, all.indexOf(`,USD,${form}-30`) - 1),
      'of another system': '<html><body>Log in</body></html>',
    }
    for (const [fault, text] of Object.entries(faults)) {
      await put(text)
      await giving('sources', 'run', form)
      const now = await wholeGifts()
      expect([before, before + 9], fault).toContain(now)
    }
    await put(all)
    expect(await giving('sources', 'run', form)).toMatchObject({ outcome: 'imported' })
    expect(await wholeGifts()).toBe(before + 20)
    expect(await giving('sources', 'run', form)).toMatchObject({ outcome: 'unchanged' })
  })
})

describe('a file that changes or stands still while it is read', () => {
  const text = head + gifts('C', 1, 10_000)
  const deps = (limits = placeLimits) => ({
    ...{ allowPrivateNetworks: true, limits, signal: new AbortController().signal },
    source: { from: '' },
  })
  /** Reads the one file of a place whole; `meanwhile` comes after its first chunk. */
  async function readWhole(place: SourcePlace, meanwhile: () => Promise<unknown> = async () => undefined) {
    const [listed] = await place.list()
    if (!listed) throw new Error('the place has no file')
    const opened = await place.open(listed, undefined)
    let isFirst = true
    let read = ''
    for await (const chunk of opened?.chunks ?? []) {
      if (isFirst) await meanwhile()
      isFirst = false
      read += chunk.toString()
    }
    return read
  }

  it.each<[string, (at: string) => Promise<unknown>]>([
    ['appended to', (at) => appendFile(at, gifts('C', 10_001, 10_002))],
    ['cut', (at) => truncate(at, 100_000)],
    ['replaced by another one', () => file('changing/gifts.csv', text.toLowerCase())],
    ['removed', (at) => rm(at)],
  ])('of a folder: nothing of it is taken when it is %s', async (_what, change) => {
    const at = await file('changing/gifts.csv', text)
    const place = await openFolder(path.dirname(at), deps())
    expect(await readWhole(place)).toBe(text)
    await expect(readWhole(place, () => change(at))).rejects.toMatchObject({ code: 'source-unavailable' })
  })

  it('of a bucket: a silence ends it, and an object that was replaced comes whole or not', async () => {
    await using server = await startBucketServer()
    const { endpoint = '', name, keys } = server.settings
    const bucket = await openBucket(server.settings, new AbortController().signal)
    const put = async (content: string) => {
      const sha256 = createHash('sha256').update(content).digest('hex')
      const body = Buffer.from(content)
      await bucket.put({ key: 'slow/gifts.csv', body, mediaType: 'text/csv', sha256, lifetime: 'live' })
    }
    const large = text.repeat(40)
    await put(large)
    const proxy = await startProxy(Number(new URL(endpoint).port))
    const secretFile = await file('slow-keys', `${keys?.accessKeyId}:${keys?.secretAccessKey}\n`)
    const location = { bucket: name, key: 'slow/', region: 'us-east-1', endpoint: `http://127.0.0.1:${proxy.port}` }
    const source = { from: '', secretFile }
    await using place = await openS3(location, { ...deps(), source })
    await using impatient = await openS3(location, { ...deps({ ...placeLimits, idleMs: 3000 }), source })
    try {
      expect(await readWhole(place)).toBe(large)
      const stalls = async () => {
        proxy.mode = 'stall'
      }
      await expect(readWhole(impatient, stalls)).rejects.toMatchObject({ code: 'source-unavailable' })
      proxy.mode = 'pass'
      proxy.cut()
      const [listed] = await place.list()
      await put(large.toLowerCase())
      const replaced = listed && (await place.open(listed, undefined).catch(({ code }: { code: string }) => code))
      expect(typeof replaced === 'string' ? replaced : replaced?.version).not.toBe(listed?.version)
      expect(await readWhole(place)).toBe(large.toLowerCase())
    } finally {
      await proxy.close()
    }
  })
})

describe('a source whose process is killed', () => {
  it('is whole after the next run, at whatever step it was', async () => {
    const text = head + gifts('K', 1, 12_000) + gifts('K', 12_001, 12_100, 2)
    let isStalled = true
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': text.length })
      if (isStalled) response.write(text.slice(0, 5000))
      else response.end(text)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}/gifts.csv`
    await giving('sources', 'add', 'killed', '--kind', 'gifts', '--from', from, '--schedule', '30 1 * * *')
    const before = await wholeGifts()
    const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    const steps: readonly (readonly [step: string, lock: string, reached: string])[] = [
      ['fetched', 'select', `select from import_source where name = 'killed' and lease_until > now()`],
      ['compared', 'lock table import_source_reading in exclusive mode', waits],
      ['imported', 'select from project where id = 2 for update', waits],
      ['recorded', 'lock table import_source_file in exclusive mode', waits],
    ]
    const program = path.join(await transpileProgram(), 'src/cli.js')
    const reached: Record<string, number> = {}
    for (const [step, lock, sql] of steps) {
      isStalled = step === 'fetched'
      await store.transaction(async (db) => {
        await db.query(lock)
        const child = spawn(process.execPath, [program, 'sources', 'run', 'killed'], {
          ...{ env: { ...process.env, ...environment }, stdio: 'ignore' },
        })
        while ((await store.db.query(sql)).rowCount === 0) await sleep(20)
        child.kill('SIGKILL')
        await once(child, 'exit')
      })
      // The server ends what a client that is gone has begun.
      while ((await store.db.query(`${waits} and pid <> pg_backend_pid()`)).rowCount) await sleep(20)
      reached[step] = (await wholeGifts()) - before
      await store.db.query(`update import_source set lease_until = now() - interval '1 second'`)
    }
    expect(reached).toMatchObject({ fetched: 0, compared: 0, recorded: 12_100 })
    expect(reached.imported).toBeGreaterThan(0)
    expect(reached.imported).toBeLessThan(12_100)
    isStalled = false
    expect(await giving('sources', 'run', 'killed')).toMatchObject({ code: 0, outcome: 'imported' })
    expect(await wholeGifts()).toBe(before + 12_100)
    expect(await giving('sources', 'run', 'killed')).toMatchObject({ outcome: 'unchanged' })
    server.close()
  })
})

const sshd = '/usr/sbin/sshd'
if (!existsSync(sshd)) console.warn(`skipped: a source of OpenSSH's server: it needs ${sshd} (package openssh-server)`)

describe.skipIf(!existsSync(sshd))("OpenSSH's server", () => {
  it('is read with the key of its user, by the key of the host, and again after it was stopped', async () => {
    const at = path.join(folder, 'ssh')
    await mkdir(at)
    // Where the system has started no server of its own, the one of root lacks its empty folder.
    if (userInfo().uid === 0) await mkdir('/run/sshd', { recursive: true })
    for (const name of ['host', 'user']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path.join(at, name)])
    }
    const fingerprint = execFileSync('ssh-keygen', ['-l', '-f', path.join(at, 'host.pub')], { encoding: 'utf8' })
    const [, hostKey = ''] = fingerprint.split(' ')
    await writeFile(path.join(at, 'authorized_keys'), await readFile(path.join(at, 'user.pub')), { mode: 0o600 })
    const config = path.join(at, 'sshd_config')
    const port = await freePort()
    await writeFile(
      config,
      [
        ...['ListenAddress 127.0.0.1', `Port ${port}`, `HostKey ${path.join(at, 'host')}`, 'UsePAM no', 'PidFile none'],
        ...[`AuthorizedKeysFile ${path.join(at, 'authorized_keys')}`, 'StrictModes no', 'PermitRootLogin yes'],
        ...['PasswordAuthentication no', 'Subsystem sftp internal-sftp', ''],
      ].join('\n'),
    )
    const start = async () => {
      const server = spawn(sshd, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] })
      let said = ''
      server.stderr.on('data', (chunk) => (said += chunk))
      const failed = once(server, 'exit').then(() => Promise.reject(new Error(`sshd ended: ${said}`)))
      await Promise.race([failed, answering(port)])
      failed.catch(() => undefined)
      return server
    }
    const first = await start()
    const before = await wholeGifts()
    await file('ssh/drop/gifts-1.csv', head + gifts('O', 1, 3000))
    const from = `sftp://${userInfo().username}@127.0.0.1:${port}${path.join(at, 'drop')}/`
    const add = ['sources', 'add', 'openssh', '--kind', 'gifts', '--from', from, '--schedule', '30 1 * * *']
    await giving(...add, '--secret-file', path.join(at, 'user'), '--host-key', hostKey)
    expect(await giving('sources', 'run', 'openssh')).toMatchObject({ code: 0, outcome: 'imported' })
    expect(await wholeGifts()).toBe(before + 3000)
    expect(await giving('sources', 'run', 'openssh')).toMatchObject({ outcome: 'unchanged' })
    first.kill()
    await once(first, 'exit')
    await file('ssh/drop/gifts-2.csv', head + gifts('O', 3001, 3010))
    expect(await giving('sources', 'run', 'openssh')).toMatchObject({ code: 2, outcome: 'failed' })
    const second = await start()
    expect(await giving('sources', 'run', 'openssh')).toMatchObject({ outcome: 'imported' })
    expect(await wholeGifts()).toBe(before + 3010)
    await giving(...add, '--secret-file', path.join(at, 'host'), '--host-key', hostKey)
    expect(await giving('sources', 'run', 'openssh')).toMatchObject({
      message: expect.stringMatching(/authentication methods failed/),
    })
    second.kill()
    await once(second, 'exit')
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function answering(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await sleep(20)
  }
}
