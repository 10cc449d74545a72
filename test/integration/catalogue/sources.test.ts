import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { decideHeldFile, findSource } from '../../../src/catalogue/sql/import-sources.js'
import { openBucket } from '../../../src/extensions/bucket/bucket.js'
import { sources } from '../../../src/extensions/sources/extension.js'
import { runDueSources, runSource, type SourceDeps } from '../../../src/extensions/sources/run-source.js'
import { openSourceKeys } from '../../../src/extensions/sources/source-keys.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { createLog } from '../../../src/platform/observability/log.js'
import { printed, runCommandLine } from '../../support/commands/command-line.js'
import { someOf } from '../../support/runner/some-of.js'
import { startBucketServer } from '../../support/servers/bucket-server.js'
import { newSshKeys, type SftpServer, startSftpServer } from '../../support/servers/sftp-server.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

type Printed = Readonly<Record<string, unknown>>

const giving = (args: readonly string[], code = 0, extra: Readonly<Record<string, string>> = {}) =>
  printed(args, { ...environment, ...extra }, code)
const run = (...args: readonly string[]) => giving(args)
const folder = await temporaryFolder()
const { store, url } = await testDatabase()
const environment = {
  ...{ DATABASE_URL: url, GIVING_DATA_DIR: path.join(folder, 'data'), LOG_LEVEL: 'silent' },
  ALLOW_PRIVATE_NETWORKS: 'true',
}
await run('import', await file('projects.csv', 'id,title,status\n1,Wells,active\n2,School,active\n'))

/** A file that nobody is writing any more. */
async function file(name: string, text: string | Buffer): Promise<string> {
  const at = path.join(folder, name)
  await mkdir(path.dirname(at), { recursive: true })
  await writeFile(at, text)
  const past = new Date(Date.now() - 60_000)
  await utimes(at, past, past)
  return at
}

async function count(table: string): Promise<number> {
  const { rows } = await store.db.query<{ count: number }>(`select count(*) as count from ${table}`)
  return rows[0]?.count ?? 0
}

async function funding(project: number): Promise<number> {
  const { rows } = await store.db.query<{ funding: string }>('select funding from project where id = $1', [project])
  return Number(rows[0]?.funding)
}

const giftHead = 'project,date,amount,currency,reference\n'
const gift = (reference: string, amount = '10') => `1,2026-03-05,${amount},USD,${reference}\n`
const gifts = (prefix: string, from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => gift(`${prefix}${from + index}`)).join('')

const sourceDeps = (allowed = true): SourceDeps => ({
  ...{
    store,
    config: readConfig({ ...environment, ALLOW_PRIVATE_NETWORKS: String(allowed) }),
    clock: () => new Date(),
  },
  ...{ operator: { actor: 'sources', origin: 'test' }, owner: 'test', signal: new AbortController().signal },
  keys: { known: [], current: () => Promise.reject(new Error('no key')), isShared: false },
})

const nightly = ['--schedule', '30 1 * * *'] as const

describe('sources of imports', { shuffle: false }, () => {
  describe('a source that is a folder', () => {
    it('brings each new file once, in the order of names, and nothing of one that is broken', async () => {
      await file('drop/gifts-1.csv', giftHead + gifts('F', 1, 2))
      await file('drop/gifts-2.csv', giftHead + gifts('F', 3, 4))
      await file('drop/gifts-3.csv.part', 'half')
      await run('sources', 'add', 'drop', '--kind', 'gifts', '--from', path.join(folder, 'drop'), ...nightly)
      const first = await run('sources', 'run', 'drop')
      expect(first).toMatchObject({ outcome: 'imported', imports: [{ created: 2 }, { created: 2 }] })
      expect(await funding(1)).toBe(40)
      const imports = await count('import')
      expect(await run('sources', 'run', 'drop')).toMatchObject({ outcome: 'unchanged', imports: [] })
      expect(await count('import')).toBe(imports)
      // A quote that is never closed: the rows before it are not taken either.
      await file('drop/gifts-4 مارس.csv', `${giftHead}${gift('F5')}1,2026-03-05,10,USD,"F6\n`)
      await file('drop/gifts-5.csv', giftHead + gift('F7'))
      expect(await giving(['sources', 'run', 'drop'], 2)).toMatchObject({
        outcome: 'failed',
        message: expect.stringMatching(/gifts-4 مارس\.csv: from line 3 on it is not CSV/),
      })
      expect(await funding(1)).toBe(40)
      await file('drop/gifts-4 مارس.csv', giftHead + gifts('F', 5, 6))
      expect(await run('sources', 'run', 'drop')).toMatchObject({ outcome: 'imported' })
      expect(await funding(1)).toBe(70)
      // What was fetched does not stay: it may have what the store does not keep.
      expect(await readdir(path.join(folder, 'data', 'sources'))).toEqual([])
    })

    it('is read again while records of it are refused', async () => {
      await file('late/gifts.csv', `${giftHead}3,2026-03-05,10,USD,L1\n${gift('L2')}`)
      await run('sources', 'add', 'late', '--kind', 'gifts', '--from', path.join(folder, 'late'), ...nightly)
      expect(await giving(['sources', 'run', 'late'], 1)).toMatchObject({ imports: [{ created: 1, refused: 1 }] })
      await run('import', await file('projects-3.csv', 'id,title,status\n3,Clinic,active\n'))
      expect(await run('sources', 'run', 'late')).toMatchObject({ imports: [{ created: 1, refused: 0 }] })
      expect(await funding(3)).toBe(10)
      expect(await run('sources', 'run', 'late')).toMatchObject({ outcome: 'unchanged' })
    })

    it('has its refused records written to be fixed, of several files each into one of its own', async () => {
      const wrong = (reference: string) => `9,2026-03-05,10,USD,${reference}\n1,2026-03-05,ten,USD,${reference}b\n`
      const place = path.join(folder, 'refused')
      await file('refused/gifts-1.csv', giftHead + gift('F1') + wrong('F2'))
      await run('sources', 'add', 'refused', '--kind', 'gifts', '--from', place, ...nightly)
      const problems = path.join(folder, 'why.csv')
      const reading = ['sources', 'run', 'refused', '--problems', problems]
      const tried = await runCommandLine([...reading, '--dry-run'], environment)
      expect(tried.stderr).toContain(
        'gifts-1.csv, line 4, record 1 2026-03-05 ten F2b, amount: expected a plain number',
      )
      expect(tried.stderr).toContain(`${problems} has the 2 refused rows of refused: gifts-1.csv and why`)
      const written = async (name: string) => (await readFile(path.join(folder, name), 'utf8')).split('\r\n')
      expect(await written('why.csv')).toEqual([
        '\uFEFFwhy,project,date,amount,currency,reference',
        expect.stringMatching(/^.*project: expected .*,9,2026-03-05,10,USD,F2$/),
        expect.stringMatching(/^.*amount: expected .*,1,2026-03-05,ten,USD,F2b$/),
        '',
      ])
      await file('refused/gifts-2.csv', giftHead + gift('F3') + wrong('F4'))
      await giving(reading, 1)
      expect((await written('gifts-1.csv.why.csv')).filter((line) => line.endsWith('F2'))).toHaveLength(1)
      expect((await written('gifts-2.csv.why.csv')).filter((line) => line.endsWith('F4'))).toHaveLength(1)
      await run('sources', 'remove', 'refused')
    })

    it('is held for a file that changes too much of its last version, however much was said before', async () => {
      const window = (from: number, amount: string, length = 20) =>
        giftHead + Array.from({ length }, (_, index) => gift(`W${from + index}`, amount)).join('')
      const at = await file('window.csv', window(0, '10', 600))
      await run('sources', 'add', 'window', '--kind', 'gifts', '--from', at, ...nightly, '--correct')
      for (const from of [589, 570, 589]) {
        await run('sources', 'run', 'window')
        await file('window.csv', window(from, '10'))
      }
      await run('sources', 'run', 'window')
      // Of more than 600 gifts that the source has said, this changes less than 5%.
      await file('window.csv', window(589, '11'))
      expect(await giving(['sources', 'run', 'window'], 1)).toMatchObject({
        held: { before: 20, changed: 20, gone: 0 },
      })
      expect(await run('sources', 'approve', 'window')).toMatchObject({ imports: [{ changed: 20 }] })
      // What an earlier version said may change alone: it is a small part of all.
      await file('window.csv', giftHead + gifts('W', 0, 18) + gift('W19', '12'))
      expect(await run('sources', 'run', 'window')).toMatchObject({ outcome: 'imported' })
      await run('sources', 'remove', 'window')
    })

    it('reads a file that was made for something else, as dry run first', async () => {
      const text = 'Projekt Nr;Betrag;Währung;Tag;Beleg;Notiz\n2;1.234,50;USD;05.03.2026;M1;x\n'
      await file('mapped/spenden.csv', Buffer.from(text, 'latin1'))
      const options = [
        '--kind',
        'gifts',
        '--from',
        path.join(folder, 'mapped'),
        ...nightly,
        '--encoding',
        'windows-1252',
      ]
      const map = 'Projekt Nr=project,Betrag=amount,Währung=currency,Tag=date,Beleg=reference,Notiz='
      const all = [...options, '--decimal', 'comma', '--date', 'dd.mm.yyyy', '--map', map]
      expect(await run('sources', 'add', 'mapped', ...all, '--dry-run')).toMatchObject({
        files: [{ summary: { created: 1 } }],
      })
      // Everything that is still wrong is said at once, also where nothing could be read.
      const lacking = await runCommandLine(
        ['sources', 'add', 'mapped', ...options, '--map', map, '--dry-run'],
        environment,
      )
      expect([lacking.code, lacking.stderr]).toEqual([
        2,
        expect.stringMatching(/date: expected .* --date dd\.mm\.yyyy[\s\S]*amount: expected .* --decimal comma/),
      ])
      expect(lacking.stdout).toMatch(/dry run, spenden\.csv would fail, .*: none of 1 records can be read/)
      expect(await findSource(store.db, 'mapped')).toBeUndefined()
      expect(await funding(2)).toBe(0)
      await run('sources', 'add', 'mapped', ...all)
      expect(await run('sources', 'run', 'mapped', '--dry-run')).toMatchObject({ files: [{ summary: { created: 1 } }] })
      expect(await funding(2)).toBe(0)
      await run('sources', 'run', 'mapped')
      expect(await funding(2)).toBe(1234.5)
      const { stdout } = await runCommandLine(['sources', 'show', 'mapped'], environment)
      expect(stdout).toMatch(/Projekt Nr=project/)
      expect(stdout).toMatch(/windows-1252/)
      expect(stdout).toMatch(/imported, import \d+: 1 records, 1 created/)
    })

    it('shows what another definition would do, though its files are known', async () => {
      const from = ['--kind', 'gifts', '--from', path.join(folder, 'mapped'), ...nightly]
      expect(await run('sources', 'run', 'mapped', '--dry-run')).toMatchObject({ files: [] })
      const map = 'Projekt Nr=project,Betrag=amount,Währung=currency,Tag=date,Notiz=reference,Beleg='
      const reading = ['--encoding', 'windows-1252', '--decimal', 'comma', '--date', 'dd.mm.yyyy', '--map', map]
      expect(await run('sources', 'add', 'mapped', ...from, ...reading, '--dry-run')).toMatchObject({
        files: [{ summary: { created: 1 }, difference: { before: 1, changed: 0, gone: 0, held: false } }],
      })
      expect(await run('sources', 'run', 'mapped')).toMatchObject({ outcome: 'unchanged' })
    })

    it('is taken back as any import', async () => {
      const { import: id } = await run('sources', 'show', 'mapped')
      expect(await run('imports', 'show', `${id}`)).toMatchObject({
        files: [{ name: 'mapped: spenden.csv' }],
        actor: expect.stringMatching(/^operator /),
        created: 1,
      })
      await run('imports', 'undo', `${id}`)
      expect(await funding(2)).toBe(0)
    })
  })

  describe('a source behind an address', () => {
    let server: Server
    let address: string
    let asked: { readonly headers: IncomingHttpHeaders; readonly url: string | undefined }[] = []
    let answer: (response: ServerResponse, headers: IncomingHttpHeaders) => void
    beforeAll(async () => {
      server = createServer((request, response) => {
        asked.push({ headers: request.headers, url: request.url })
        answer(response, request.headers)
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })
    afterAll(() => {
      server.closeAllConnections()
      server.close()
    })
    beforeEach(() => {
      asked = []
    })

    const whole = (text: string | Buffer, headers: Readonly<Record<string, string>> = {}) => {
      const etag = `"${createHash('md5').update(text).digest('hex')}"`
      answer = (response, sent) => {
        if (sent['if-none-match'] === etag) response.writeHead(304).end()
        else response.writeHead(200, { etag, 'content-length': Buffer.byteLength(text), ...headers }).end(text)
      }
    }
    const source = async (name: string, ...options: readonly string[]) =>
      await run('sources', 'add', name, '--kind', 'gifts', '--from', `${address}/${name}.csv`, ...nightly, ...options)

    it('is asked for what is new, with the secret of its file', async () => {
      const secret = await file('token', 't0ken\n')
      whole(giftHead + gifts('H', 1, 2))
      await source('web', '--secret-file', secret)
      expect(await run('sources', 'run', 'web')).toMatchObject({ imports: [{ created: 2 }] })
      expect(await run('sources', 'run', 'web')).toMatchObject({ outcome: 'unchanged' })
      expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer t0ken', 'Bearer t0ken'])
      expect(asked[1]?.headers['if-none-match']).toMatch(/^"[0-9a-f]{32}"$/)
      // The same content under another tag is no import.
      whole(giftHead + gifts('H', 1, 2), { etag: '"other"' })
      const imports = await count('import')
      expect(await run('sources', 'run', 'web')).toMatchObject({ outcome: 'unchanged' })
      expect(await count('import')).toBe(imports)
      const stored = JSON.stringify((await store.db.query('select * from import_source')).rows)
      expect(stored).not.toMatch(/t0ken/)
      const url = new URL(address)
      url.username = 'erp'
      await run(
        'sources',
        'add',
        'basic',
        '--kind',
        'gifts',
        '--from',
        `${url}x.csv`,
        ...nightly,
        '--secret-file',
        secret,
      )
      await run('sources', 'run', 'basic')
      expect(asked.at(-1)?.headers.authorization).toBe(`Basic ${Buffer.from('erp:t0ken').toString('base64')}`)
    })

    it('has a token in its address, which the store has under a key alone', async () => {
      whole(giftHead + gift('Q1'))
      const place = `${address}/token.csv?token=s3cr3t&gid=7`
      const [k1, k2] = ['k1', 'k2'].map((id) => `${id}:${Buffer.alloc(32, id).toString('base64')}`)
      const keys = (...given: readonly (string | undefined)[]) => ({ DONOR_KEYS: given.join(',') })
      const add = ['sources', 'add', 'token', '--kind', 'gifts', '--from', place, ...nightly]
      const location = async () =>
        (await store.db.query<{ at: string }>("select location as at from import_source where name = 'token'")).rows[0]
          ?.at
      // As an earlier version stored it: the worker moves it once all processes have a key.
      await store.db.query(
        `insert into import_source (name, kind, location, schedule, next_due) values ('token', 'gifts', $1, '30 1 * * *', '2000-01-01')`,
        [place],
      )
      const tick = async (environment: Record<string, string>) => {
        const config = readConfig({ ...environment, GIVING_DATA_DIR: path.join(folder, 'data') }, ['donors', 'dataDir'])
        return await runDueSources({ ...sourceDeps(), keys: await openSourceKeys(config) })
      }
      expect(await tick({})).toMatchObject([{ name: 'token', imports: [{ created: 1 }] }])
      expect(asked.at(-1)?.url).toBe('/token.csv?token=s3cr3t&gid=7')
      expect(await location()).toBe(place)
      await tick(keys(k1))
      expect(await location()).toMatch(/^sealed:k1:[\w-]+:http:\/\/127\.0\.0\.1:\d+\/token\.csv$/)
      // The same address changes nothing, and no other place has its secret.
      expect(await giving(add, 0, keys(k1))).toMatchObject({ changed: false, from: `${address}/token.csv?…` })
      const list = { name: 'token', kind: 'gifts', from: place, schedule: '30 1 * * *' }
      const sources = await file('token-keys.json', JSON.stringify([list]))
      expect(await giving(['sources', 'apply', sources, '--dry-run'], 0, keys(k1))).toMatchObject({ changed: [] })
      expect(await giving(['donors', 'rekey'], 0, keys(k2, k1))).toMatchObject({ key: 'k2' })
      expect(await location()).toMatch(/^sealed:k2:/)
      expect(await giving(['sources', 'run', 'token'], 0, keys(k2))).toMatchObject({ outcome: 'unchanged' })
      expect(asked.at(-1)?.url).toBe('/token.csv?token=s3cr3t&gid=7')
      expect(await giving(['sources', 'run', 'token'], 2, keys(k1))).toMatchObject({
        message: expect.stringContaining(`${address}/token.csv?…: the key "k2" of what follows the ? is not here`),
      })
      const asks = asked.length
      await store.db.query(
        "update import_source set location = replace(location, '/token.csv', '/other.csv') where name = 'token'",
      )
      expect(await giving(['sources', 'run', 'token'], 2, keys(k2))).toMatchObject({
        message: `${address}/other.csv?… is not what was stored`,
      })
      expect(asked).toHaveLength(asks)
      await run('sources', 'remove', 'token')
    })

    it('follows to where its server leads, as that of a published spreadsheet does, and says who refuses it', async () => {
      const text = giftHead + gift('R1')
      answer = (response) => {
        if (asked.at(-1)?.url === '/pub?output=csv') response.writeHead(307, { location: '/sheet/1' }).end()
        else response.writeHead(200, { 'content-type': 'text/csv' }).end(text)
      }
      await run('sources', 'add', 'sheet', '--kind', 'gifts', '--from', `${address}/pub?output=csv`, ...nightly)
      expect(await run('sources', 'run', 'sheet')).toMatchObject({ imports: [{ created: 1 }] })
      expect(asked.map(({ url }) => url)).toEqual(['/pub?output=csv', '/sheet/1'])
      answer = (response) => response.writeHead(302, { location: '/again' }).end()
      expect(await giving(['sources', 'run', 'sheet'], 2)).toMatchObject({
        message: expect.stringMatching(/leads on more than 5 times/),
      })
      answer = (response) => response.writeHead(403).end()
      expect(await giving(['sources', 'run', 'sheet'], 2)).toMatchObject({
        message: `${address}/pub answered 403: the source has no secret file`,
      })
      expect(await giving(['sources', 'run', 'web'], 2)).toMatchObject({
        message: `${address}/web.csv answered 403: it does not take the secret of ${path.join(folder, 'token')}`,
      })
      await run('sources', 'remove', 'sheet')
    })

    it('does not tell its secret to whom it is sent on', async () => {
      const other = createServer((request, response) => {
        asked.push({ headers: request.headers, url: request.url })
        response.writeHead(200, { 'content-length': '0' }).end()
      })
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      const { port } = other.address() as AddressInfo
      answer = (response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/x` }).end()
      expect(await giving(['sources', 'run', 'web'], 2)).toMatchObject({
        message: expect.stringMatching(/without https/),
      })
      expect(asked).toHaveLength(1)
      other.close()
    })

    it('keeps what came last when an answer is cut, empty, slow, damaged or no file', async () => {
      const text = giftHead + gifts('H', 1, 40)
      const before = await funding(1)
      const faults: Readonly<Record<string, [(response: ServerResponse) => void, RegExp]>> = {
        cut: [
          (response) => {
            response.writeHead(200, { 'content-length': Buffer.byteLength(text) })
            response.write(text.slice(0, 300), () => response.destroy())
          },
          /web\.csv: /,
        ],
        'cut in chunks': [
          (response) => {
            response.writeHead(200)
            response.write(text.slice(0, 300), () => response.destroy())
          },
          /web\.csv: /,
        ],
        'of unknown length': [
          (response) => {
            response.useChunkedEncodingByDefault = false
            response.writeHead(200, { connection: 'close' }).end(text.slice(0, 300))
          },
          /does not say how long/,
        ],
        'damaged gzip': [
          (response) => {
            const zipped = gzipSync(text).subarray(0, 60)
            response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': zipped.length }).end(zipped)
          },
          /unexpected end of file/,
        ],
        empty: [(response) => response.writeHead(200, { 'content-length': 0 }).end(), /an empty file/],
        'a page': [
          (response) => response.writeHead(200, { 'content-length': 17 }).end('<html>Log in</htm'),
          /web\.csv: a web page \(HTML\), perhaps one to sign in/,
        ],
        missing: [(response) => response.writeHead(404, { 'content-length': 0 }).end(), /answered 404/],
        'of another table': [
          (response) => response.writeHead(200, { 'content-length': 8 }).end('a,b\n1,2\n'),
          /unknown column "a"/,
        ],
        'nothing that can be read': [
          (response) => {
            const bad = `${giftHead}1,soon,10,USD,X1\n`
            response.writeHead(200, { 'content-length': bad.length }).end(bad)
          },
          /none of 1 records can be read: line 2, date/,
        ],
      }
      for (const [name, [fault, said]] of Object.entries(faults)) {
        answer = fault
        expect(await giving(['sources', 'run', 'web'], 2), name).toMatchObject({
          outcome: 'failed',
          message: expect.stringMatching(said),
        })
        expect(await funding(1), name).toBe(before)
      }
      whole(text)
      expect(await run('sources', 'run', 'web')).toMatchObject({ imports: [{ created: 38, unchanged: 2 }] })
      // Nobody asked for an encoding, so that each may come.
      for (const [encoding, bytes] of Object.entries({ br: brotliCompressSync(text), deflate: deflateSync(text) })) {
        answer = (response) =>
          response.writeHead(200, { 'content-encoding': encoding, 'content-length': bytes.length }).end(bytes)
        expect(await run('sources', 'run', 'web'), encoding).toMatchObject({ outcome: 'unchanged' })
      }
    })

    it('waits for nobody, takes no end of bytes, and calls no private network', async () => {
      answer = (response) => {
        response.writeHead(200, { 'content-length': 1000 })
        response.write('project,')
      }
      const clock = () => new Date('2030-01-01T00:00:00Z')
      const only = async (limits: NonNullable<SourceDeps['limits']>, allowed = true) => {
        await store.db.query(
          `update import_source set next_due = case name when 'web' then '2029-01-01' else '2099-01-01' end::timestamptz`,
        )
        return await runDueSources({ ...sourceDeps(allowed), clock, limits })
      }
      expect(await only({ idleMs: 100 })).toMatchObject([{ name: 'web', outcome: 'failed' }])
      whole(giftHead + gifts('H', 1, 50))
      expect(await only({ bytes: 100 })).toMatchObject([
        { outcome: 'failed', message: expect.stringMatching(/more than 100 bytes/) },
      ])
      expect(await only({}, false)).toMatchObject([
        { outcome: 'failed', message: expect.stringMatching(/not a public address/) },
      ])
      expect(await only({})).toMatchObject([{ outcome: 'imported', imports: [{ created: 10 }] }])
      // It is due again at the next instant of its schedule, and not before.
      expect((await findSource(store.db, 'web'))?.nextDue).toEqual(new Date('2030-01-01T01:30:00Z'))
      expect(await runDueSources({ ...sourceDeps(), clock })).toEqual([])
      expect(await runDueSources({ ...sourceDeps(), clock: () => new Date('2030-01-01T01:30:00Z') })).toMatchObject([
        { name: 'web', outcome: 'unchanged' },
      ])
    })

    it('is read by one process at a time', async () => {
      let answerIt: () => void = () => undefined
      const text = giftHead + gifts('H', 1, 51)
      answer = (response) => {
        answerIt = () => response.writeHead(200, { 'content-length': text.length }).end(text)
      }
      const first = run('sources', 'run', 'web')
      await expect.poll(() => asked.length).toBe(1)
      expect(await giving(['sources', 'run', 'web'], 2)).toMatchObject({
        stderr: expect.stringMatching(/another process works on/),
      })
      answerIt()
      expect(await first).toMatchObject({ imports: [{ created: 1 }] })
      expect(asked).toHaveLength(1)
    })

    it('is imported as a person has approved it while it was read again', async () => {
      whole(giftHead + gift('Q1'))
      await source('slow', '--correct')
      await run('sources', 'run', 'slow')
      const text = giftHead + gift('Q1', '11')
      whole(text)
      await giving(['sources', 'run', 'slow'], 1)
      let answerIt: () => void = () => undefined
      answer = (response) => {
        answerIt = () => response.writeHead(200, { 'content-length': text.length }).end(text)
      }
      asked = []
      const again = giving(['sources', 'run', 'slow'], 1)
      await expect.poll(() => asked.length).toBe(1)
      const at = new Date('2026-01-01T00:00:00Z')
      await decideHeldFile(store.db, 'slow', 'approve', at)
      answerIt()
      expect(await again).toMatchObject({ outcome: 'held' })
      expect(await findSource(store.db, 'slow')).toMatchObject({ nextDue: at, held: { approved: true } })
      whole(text)
      expect(await run('sources', 'run', 'slow')).toMatchObject({ outcome: 'imported', imports: [{ changed: 1 }] })
      expect(await findSource(store.db, 'slow')).not.toMatchObject({ nextDue: at })
    })
  })

  describe('a source in a bucket', () => {
    it('brings each new object once, with the keys of its file, and nothing of one that is cut', async () => {
      await using server = await startBucketServer()
      const { endpoint = '', name, keys } = server.settings
      const bucket = await openBucket(server.settings, new AbortController().signal)
      const put = async (key: string, text: string) => {
        const sha256 = createHash('sha256').update(text).digest('hex')
        await bucket.put({ key, body: Buffer.from(text), mediaType: 'text/csv', sha256, lifetime: 'live' })
      }
      const secret = await file('s3-keys', `${keys?.accessKeyId}:${keys?.secretAccessKey}\n`)
      const from = `s3://${name}/drop/?endpoint=${endpoint}`
      await run('sources', 'add', 'bucket', '--kind', 'gifts', '--from', from, ...nightly, '--secret-file', secret)
      const before = await funding(1)
      await put('drop/gifts-1.csv', giftHead + gifts('S', 1, 2))
      await put('drop/deeper/gifts-9.csv', giftHead + gifts('S', 90, 99))
      expect(await run('sources', 'run', 'bucket')).toMatchObject({ imports: [{ created: 2 }] })
      await put('drop/gifts-2.csv', giftHead + gifts('S', 3, 4))
      expect(await run('sources', 'run', 'bucket')).toMatchObject({ imports: [{ created: 2 }] })
      expect(await run('sources', 'run', 'bucket')).toMatchObject({ outcome: 'unchanged', imports: [] })
      expect(await funding(1)).toBe(before + 40)
      await put('drop/gifts-2.csv', giftHead + gifts('S', 3, 1000))
      server.cutAfterBytes = 2000
      expect(await giving(['sources', 'run', 'bucket'], 2)).toMatchObject({ outcome: 'failed' })
      expect(await funding(1)).toBe(before + 40)
      server.cutAfterBytes = undefined
      expect(await run('sources', 'run', 'bucket')).toMatchObject({ imports: [{ created: 996, unchanged: 2 }] })
      await file('s3-keys', 'S3RVER:wrong')
      const one = `s3://${name}/drop/gifts-1.csv?endpoint=${endpoint}`
      await run('sources', 'add', 'object', '--kind', 'gifts', '--from', one, ...nightly, '--secret-file', secret)
      expect(await giving(['sources', 'run', 'object'], 2)).toMatchObject({
        message: expect.stringMatching(/s3:\/\/giving\/drop\/gifts-1\.csv: The request signature we calculated/),
      })
      await file('s3-keys', 'S3RVER:S3RVER')
      expect(await giving(['sources', 'run', 'object'], 2, { ALLOW_PRIVATE_NETWORKS: 'false' })).toMatchObject({
        message: expect.stringMatching(/not a public address/),
      })
      expect(await run('sources', 'run', 'object')).toMatchObject({ imports: [{ unchanged: 2 }] })
      expect(await run('sources', 'run', 'object')).toMatchObject({ outcome: 'unchanged' })
      // A name of this machine, without TLS.
      const hidden = one.replace('127.0.0.1', 'localhost')
      await run('sources', 'add', 'object', '--kind', 'gifts', '--from', hidden, ...nightly, '--secret-file', secret)
      expect(await giving(['sources', 'run', 'object'], 2, { ALLOW_PRIVATE_NETWORKS: 'false' })).toMatchObject({
        message: expect.stringMatching(/not a public address/),
      })
    })
  })

  describe('a source of SFTP', () => {
    it('is read with its key, from the server that has the named key, and nothing of it that is cut or changed', async () => {
      const keys = newSshKeys()
      const key = await file('id_ed25519', keys.private)
      const root = path.join(folder, 'sftp')
      await file('sftp/drop/gifts-1.csv', giftHead + gifts('T', 1, 2))
      await file('sftp/drop/.hidden.csv', 'x')
      await using server = await startSftpServer(root, { publicKey: keys.public, password: 'pass:word' })
      const from = `sftp://giving@127.0.0.1:${server.port}/drop/`
      const rest = ['--kind', 'gifts', ...nightly, '--secret-file', key]
      const add = (...options: readonly string[]) => runCommandLine(['sources', 'add', 'sftp', ...options], environment)
      expect(await add('--from', from, ...rest)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/hostKey: expected a fingerprint/),
      })
      expect(await add('--from', from, ...rest, '--host-key', server.hostKey)).toMatchObject({ code: 0 })
      const before = await funding(1)
      expect(await run('sources', 'run', 'sftp')).toMatchObject({ imports: [{ created: 2 }] })
      expect(await run('sources', 'run', 'sftp')).toMatchObject({ outcome: 'unchanged', imports: [] })
      const large = giftHead + gifts('T', 3, 1500)
      await file('sftp/drop/gifts-2.csv', large)
      const faults: Readonly<Record<string, [SftpServer['onRead'], RegExp]>> = {
        cut: [(offset) => (offset > 0 ? 'cut' : 'send'), /sftp:\/\/127\.0\.0\.1\/drop/],
        changed: [
          async () => {
            await file('sftp/drop/gifts-2.csv', `${large}${gift('T1501')}`)
            return 'send' as const
          },
          /gifts-2\.csv was (changed|cut)/,
        ],
      }
      for (const [name, [fault, said]] of Object.entries(faults)) {
        server.onRead = fault
        expect(await giving(['sources', 'run', 'sftp'], 2), name).toMatchObject({
          outcome: 'failed',
          message: expect.stringMatching(said),
        })
        expect(await funding(1), name).toBe(before + 20)
        await file('sftp/drop/gifts-2.csv', large)
      }
      server.onRead = () => 'silent'
      const limits = { idleMs: 1000 }
      expect(await runSource({ ...sourceDeps(), limits }, 'sftp')).toMatchObject({
        outcome: 'failed',
        message: expect.stringMatching(/in time/),
      })
      server.onRead = () => 'send'
      expect(await runSource({ ...sourceDeps(false), limits }, 'sftp')).toMatchObject({
        message: expect.stringMatching(/not a public address/),
      })
      expect(await run('sources', 'run', 'sftp')).toMatchObject({ imports: [{ created: 1498 }] })
      // A password, one file, and a server that has become another one.
      await file('id_ed25519', 'pass:word\n')
      await run('sources', 'add', 'sftp', '--from', `${from}gifts-1.csv`, ...rest, '--host-key', server.hostKey)
      expect(await run('sources', 'run', 'sftp')).toMatchObject({ imports: [{ unchanged: 2 }] })
      const other = `SHA256:${'A'.repeat(43)}`
      await run('sources', 'add', 'sftp', '--from', `${from}gifts-1.csv`, ...rest, '--host-key', other)
      expect(await giving(['sources', 'run', 'sftp'], 2)).toMatchObject({
        message: expect.stringContaining(`the server has the key ${server.hostKey}, and the source names ${other}`),
      })
      await file('id_ed25519', 'wrong\n')
      await run('sources', 'add', 'sftp', '--from', `${from}gifts-1.csv`, ...rest, '--host-key', server.hostKey)
      expect(await giving(['sources', 'run', 'sftp'], 2)).toMatchObject({
        message: expect.stringMatching(/authentication methods failed/),
      })
    })
  })

  describe('what stands in a folder', () => {
    const add = async (name: string, ...options: readonly string[]) =>
      await run('sources', 'add', name, '--kind', 'gifts', '--from', path.join(folder, name), ...nightly, ...options)

    it('is held while nothing tells that a file is whole, unless the files before it ended as it does', async () => {
      await add('cut')
      const before = await funding(1)
      await file('cut/gifts-1.csv', giftHead + gifts('Z', 1, 2))
      await run('sources', 'run', 'cut')
      // "1,2026-03-05,1059.00,USD,Z3" without its end, or one of its last cells.
      const cut = 'project,date,reference,currency,amount\n1,2026-03-05,Z3,USD,10'
      for (const text of [cut, `${giftHead}${gift('Z4')}1,2026-03-05,10,USD\n`]) {
        await file('cut/gifts-2.csv', text)
        const tried = await run('sources', 'run', 'cut', '--dry-run')
        expect(tried).toMatchObject({ files: [{ difference: { held: true } }] })
        expect(await giving(['sources', 'run', 'cut'], 1)).toMatchObject({
          outcome: 'held',
          message: expect.stringMatching(/may have been cut, since its last row has (no end of line|fewer cells)/),
        })
      }
      expect(await funding(1)).toBe(before + 20)
      await file('cut/gifts-2.csv', cut)
      await giving(['sources', 'run', 'cut'], 1)
      expect(await run('sources', 'approve', 'cut')).toMatchObject({ outcome: 'imported' })
      await file('cut/gifts-3.csv', `${giftHead}${gift('Z5')}`.trimEnd())
      expect(await run('sources', 'run', 'cut')).toMatchObject({ outcome: 'imported', imports: [{ created: 1 }] })
    })

    it('is read where links stay in it, and told where one leads out of it', async () => {
      await add('links')
      await file('links/in/gifts.csv', giftHead + gift('Y1'))
      await symlink('in/gifts.csv', path.join(folder, 'links', 'a.csv'))
      expect(await run('sources', 'run', 'links')).toMatchObject({ imports: [{ created: 1 }] })
      await file('elsewhere.csv', 'secret,of,others\n')
      await symlink('../elsewhere.csv', path.join(folder, 'links', 'b.csv'))
      const told = await giving(['sources', 'run', 'links'], 2)
      expect(told).toMatchObject({
        message: expect.stringMatching(/b\.csv is a link that leads out of .*: it is not read/),
      })
      expect(JSON.stringify(told)).not.toContain('secret')
    })

    it('is the last by the numbers and days in names, of a list that is complete', async () => {
      const list = (id: number) => `id,title,status\n${id},Newest,active\n`
      for (const [own, first, names] of [
        ['numbers', 801, ['list-9.csv', 'list-10.csv']],
        ['days', 811, ['Liste 30.11.2026.csv', 'Liste 1.12.2026.csv', 'Liste 09.10.2026.csv']],
      ] as const) {
        for (const [index, name] of names.entries()) await file(`${own}/${name}`, list(first + index))
        const from = path.join(folder, own)
        await run('sources', 'add', own, '--kind', 'projects', '--from', from, ...nightly, '--complete')
        await run('sources', 'run', own)
        const { rows } = await store.db.query('select id from project where id between $1 and $1 + 2', [first])
        expect(rows).toEqual([{ id: first + 1 }])
      }
    })

    it('is passed over where no reader knows it, or the source names others', async () => {
      await add('strange')
      await file('strange/Thumbs.db', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0, 0]))
      await file('strange/desktop.ini', '[.ShellClassInfo]\r\nIconResource=x\r\n')
      await file('strange/gifts.csv', giftHead + gift('X1'))
      // What programs keep of an earlier state says nothing that counts now.
      for (const name of ['gifts.csv~', 'gifts.csv.bak', 'gifts.csv.old'])
        await file(`strange/${name}`, giftHead + gift('X2'))
      expect(await run('sources', 'run', 'strange', '--dry-run')).toMatchObject({
        files: [{ passed: expect.stringContaining('Thumbs.db') }, {}, { file: 'gifts.csv', summary: { created: 1 } }],
      })
      expect(await run('sources', 'run', 'strange')).toMatchObject({
        imports: [{ created: 1 }],
        message: expect.stringContaining('Thumbs.db is passed over, since it is no file of records; desktop.ini'),
      })
      expect(await run('sources', 'run', 'strange')).toMatchObject({ outcome: 'unchanged', message: 'nothing new' })
      await file('strange/zip.xlsx', Buffer.from('PK\u0003\u0004'))
      await giving(['sources', 'run', 'strange'], 2)
      await add('strange', '--names', '*.CSV, gifts?.txt')
      expect(await run('sources', 'run', 'strange')).toMatchObject({ imports: [{ unchanged: 1 }] })
    })

    it('is not read while a status is left out of which nobody has said that it does not count', async () => {
      const text = 'project,date,amount,currency,reference,Status\n'
      await file('status/gifts.csv', `${text}1,2026-03-05,10,USD,V1,Paid\n1,2026-03-05,10,USD,V2,Failed\n`)
      const asked = 'a column \\"Status\\" that is left out, with \\"Paid\\" and \\"Failed\\"'
      const importing = ['import', path.join(folder, 'status/gifts.csv'), '--map', 'Status=']
      for (const options of [importing, [...importing, '--dry-run']]) {
        expect(JSON.stringify(await giving(options, 2))).toContain(asked)
      }
      await add('status', '--map', 'Status=')
      expect(JSON.stringify(await giving(['sources', 'run', 'status'], 2))).toContain(asked)
      await add('status', '--ignore-column', 'Status')
      expect(await run('sources', 'run', 'status', '--dry-run')).toMatchObject({ files: [{ summary: { created: 2 } }] })
    })

    it('shows a token in an address nowhere', async () => {
      const place = 'https://127.0.0.1:9/gifts.csv?token=s3cr3t'
      const add = ['sources', 'add', 'token', '--kind', 'gifts', '--from', place, ...nightly]
      const list = { name: 'token', kind: 'gifts', from: `${place}4`, schedule: '30 1 * * *' }
      const sources = await file('token.json', JSON.stringify([list]))
      const told = [
        await runCommandLine([...add, '--dry-run'], environment),
        await runCommandLine([...add, '--guard', 'x'], environment),
        await runCommandLine([...add, '--json'], environment),
        await runCommandLine(['sources', 'list'], environment),
        await runCommandLine(['sources', 'show', 'token', '--json'], environment),
        await runCommandLine(['sources', 'show', 'token'], environment),
        await runCommandLine(['sources', 'run', 'token'], environment),
        await runCommandLine(['sources', 'apply', sources, '--dry-run'], environment),
        await runCommandLine(['audit', '--json'], environment),
        await runCommandLine(['status'], environment),
      ]
      const all = told.map(({ stdout, stderr }) => stdout + stderr).join('\n')
      expect(all).not.toContain('s3cr3t')
      expect(all).toContain('https://127.0.0.1:9/gifts.csv?…')
      const stored = await store.db.query<{ source: string }>('select s::text as source from import_source s')
      expect(stored.rows.map(({ source }) => source).join('\n')).not.toContain('s3cr3t')
      // What a command has shown is no address.
      const shown = await runCommandLine([...add.with(6, 'https://127.0.0.1:9/gifts.csv?…')], environment)
      expect(shown).toMatchObject({ code: 2, stderr: expect.stringContaining('a whole address') })
      await run('sources', 'remove', 'token')
    })
  })

  describe('a source of SFTP that is another than most', () => {
    it('takes a password on a keyboard, tells links and files without modes, and is never sent a key', async () => {
      const keys = newSshKeys()
      const root = path.join(folder, 'other-sftp')
      await file('other-sftp/drop/in/gifts.csv', giftHead + gift('U1'))
      await file('other-sftp/secret.csv', giftHead + gift('U2'))
      await symlink('in/gifts.csv', path.join(root, 'drop', 'a.csv'))
      const secret = await file('other-secret', 'pass word\n')
      await using server = await startSftpServer(root, { publicKey: keys.public, password: 'pass word' })
      const from = `sftp://giving@127.0.0.1:${server.port}/drop/`
      const rest = ['--kind', 'gifts', ...nightly, '--secret-file', secret, '--host-key', server.hostKey]
      await run('sources', 'add', 'other', '--from', from, ...rest)
      server.asksOnKeyboard = true
      expect(await run('sources', 'run', 'other')).toMatchObject({ imports: [{ created: 1 }] })
      server.sendsModes = false
      await file('other-sftp/drop/b.csv', giftHead + gift('U3'))
      expect(await run('sources', 'run', 'other')).toMatchObject({ imports: [{ created: 1 }] })
      server.sendsModes = true
      await symlink('../secret.csv', path.join(root, 'drop', 'c.csv'))
      expect(await giving(['sources', 'run', 'other'], 2)).toMatchObject({
        message: expect.stringMatching(/c\.csv is a link/),
      })
      server.asksOnKeyboard = false
      server.passwords.length = 0
      for (const [key, named] of [
        ['PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-MAC: 00\n', 'a key of PuTTY, version 3'],
        ['---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nxx\n', 'a key of the form "SSH2 ENCRYPTED PRIVATE KEY"'],
        ['-----BEGIN AGE ENCRYPTED FILE-----\nxx\n', 'a key of the form "AGE ENCRYPTED FILE"'],
        [`${keys.public}\n`, 'a public key of SSH'],
        ['{"kty":"OKP","d":"xx"}', 'a key in JSON (JWK)'],
        ['first line\nsecond line\n', 'a text of several lines'],
        [Buffer.from(keys.private, 'utf16le'), 'no text'],
      ] as const) {
        await file('other-secret', key as string)
        const told = await giving(['sources', 'run', 'other'], 2)
        expect(told).toMatchObject({ message: expect.stringContaining(`other-secret has ${named}`) })
      }
      expect(server.passwords).toEqual([])
    })
  })

  describe('a source that is due', () => {
    it('is read by a worker', async () => {
      await file('due/gifts.csv', giftHead + gift('W1'))
      await run('sources', 'add', 'due', '--kind', 'gifts', '--from', path.join(folder, 'due'), ...nightly)
      await store.db.query(`update import_source set next_due = case name when 'due' then now() else '2099-01-01' end`)
      const open = sources.work.open({
        ...{ store, clock: () => new Date(), owner: 'worker', log: createLog('silent', 'json') },
        config: readConfig(environment, sources.work.fields),
      } as Parameters<typeof sources.work.open>[0])
      const { signal } = new AbortController()
      const tick = () => open?.tick?.({ signal } as Parameters<NonNullable<typeof open.tick>>[0])
      expect(await Promise.all([tick(), tick()])).toEqual(['1 sources read', 'sources are being read'])
      expect(await findSource(store.db, 'due')).toMatchObject({ outcome: 'imported' })
      expect(await tick()).toBe('0 sources read')
    })
  })

  describe('a complete source', () => {
    const project = (id: number, title = `Project ${id}`) => `${id},${title},active\n`
    const head = 'id,title,status\n'
    const projects = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, index) => project(from + index)).join('')
    const states = async () => {
      const { rows } = await store.db.query<{ id: number; status: string }>(
        'select id, status from project where id between 100 and 199 order by id',
      )
      return rows.map(({ id, status }) => `${id} ${status}`)
    }
    const put = (text: string) => file('all/projects.csv', head + text)

    it('closes projects that are missing, as its import, and opens those that are back', async () => {
      await put(projects(100, 139))
      const place = path.join(folder, 'all/projects.csv')
      await run('sources', 'add', 'all', '--kind', 'projects', '--from', place, ...nightly, '--complete')
      await run('sources', 'run', 'all')
      await put(projects(101, 139))
      const ended = await run('sources', 'run', 'all')
      expect(ended).toMatchObject({ outcome: 'imported', imports: [{ unchanged: 39, changed: 1, ended: 1 }] })
      expect((await states()).slice(0, 2)).toEqual(['100 retired', '101 active'])
      const id = (ended.imports as Printed[])[0]?.import
      expect(await run('imports', 'undo', `${id}`)).toMatchObject({ returned: { project: 1 } })
      expect((await states())[0]).toBe('100 active')
      await put(projects(102, 139))
      await run('sources', 'run', 'all')
      expect((await states()).slice(0, 2)).toEqual(['100 active', '101 retired'])
      await put(projects(101, 139))
      await run('sources', 'run', 'all')
      expect((await states())[1]).toBe('101 active')
    })

    it('is the same where columns have moved, also beside what an earlier version has stored', async () => {
      const moved = (rows: string) => rows.replace(/^(\d+),(.*),(\w+)$/gm, '$2,$1,$3')
      await file('all/projects.csv', `title,id,status\n${moved(projects(101, 139))}`)
      expect(await run('sources', 'run', 'all')).toMatchObject({ imports: [{ unchanged: 39 }] })
      const [title = ''] = moved(project(101)).split(',')
      // Earlier versions took the content in the order of the columns.
      const { rowCount } = await store.db.query(
        `update import_source_record set content = md5(format('{"id":"%s","title":"%s","status":"active"}',
          substring(key from 'id.(.*)'), replace($1, '101', substring(key from 'id.(.*)'))))::uuid where source = 'all'`,
        [title],
      )
      expect(rowCount).toBe(39)
      await put(`${projects(101, 138)}${project(139).replace('active', 'funded')}`)
      expect(await run('sources', 'run', 'all')).toMatchObject({ imports: [{ unchanged: 38, changed: 1 }] })
      await put(projects(101, 139))
      await run('sources', 'run', 'all')
    })

    it('ends nothing while records cannot be read', async () => {
      await put(`${projects(101, 138)}139,,active\n`)
      expect(await giving(['sources', 'run', 'all'], 1)).toMatchObject({ imports: [{ refused: 1, changed: 0 }] })
      expect((await states()).at(-1)).toBe('139 active')
    })

    it('holds a file that takes away or changes too much, until a person decides', async () => {
      const before = await states()
      await put(projects(101, 119))
      const held = await giving(['sources', 'run', 'all'], 1)
      expect(held).toMatchObject({ outcome: 'held', held: { before: 39, gone: 20, changed: 0 }, imports: [] })
      expect(await states()).toEqual(before)
      const need =
        /source all is held since .*projects\.csv would change 0 and end 20 of 39 records: giving sources approve all/
      const { stdout } = await runCommandLine(['status'], environment)
      expect(stdout).toMatch(need)
      expect((await runCommandLine(['doctor'], environment)).stdout).toMatch(need)
      // It is not forgotten when it comes again, and refused it is left alone.
      expect(await giving(['sources', 'run', 'all'], 1)).toMatchObject({
        held: { since: (held.held as Printed).since },
      })
      await run('sources', 'refuse', 'all')
      expect((await runCommandLine(['status'], environment)).stdout).not.toMatch(/source all/)
      expect(await run('sources', 'run', 'all')).toMatchObject({ outcome: 'unchanged' })
      expect(await states()).toEqual(before)
      // Changes count as well.
      await put(projects(101, 136) + [137, 138, 139].map((id) => project(id, 'Other')).join(''))
      expect(await giving(['sources', 'run', 'all'], 1)).toMatchObject({ held: { changed: 3, gone: 0 } })
      expect(await run('sources', 'approve', 'all')).toMatchObject({ outcome: 'imported', imports: [{ changed: 3 }] })
      expect((await runCommandLine(['sources', 'approve', 'all'], environment)).stderr).toMatch(/no file .* is held/)
      // What is approved is one content: another one is held again.
      await put(projects(101, 110))
      await giving(['sources', 'run', 'all'], 1)
      await store.db.query(`update import_source set held = held || '{"approved": true}' where name = 'all'`)
      await put(projects(101, 109))
      expect(await giving(['sources', 'run', 'all'], 1)).toMatchObject({ held: { gone: 30 } })
      expect((await states()).filter((one) => one.endsWith('active'))).toHaveLength(40)
    })

    it('ends gifts, payouts, plans and reports by what removes one of them', async () => {
      const rows: Readonly<Record<string, [head: string, row: (n: number) => string, table: string]>> = {
        gifts: [giftHead, (n) => `2,2026-0${n}-05,10,USD,E${n}\n`, 'imported_gift where project_id = 2'],
        disbursements: [
          'project,date,amount,currency,reference\n',
          (n) => `2,2026-0${n}-05,5,USD,D${n}\n`,
          'disbursement',
        ],
        'payout-plans': [
          'project,date,amount,currency,reference\n',
          (n) => `2,2030-0${n}-05,5,USD,P${n}\n`,
          'payout_plan',
        ],
        reports: [
          'project,url,title,published,html\n',
          (n) => `2,https://p.example/r/${n},Report ${n},2026-0${n}-05,Text.\n`,
          'progress_report',
        ],
      }
      for (const [kind, [columns, row, table]] of someOf(Object.entries(rows), 2)) {
        const at = await file(`ends/${kind}.csv`, columns + row(1) + row(2))
        const options = ['--kind', kind, '--from', at, ...nightly, '--complete', '--guard', '50']
        await run('sources', 'add', `ends-${kind}`, ...options)
        await run('sources', 'run', `ends-${kind}`)
        expect(await count(table), kind).toBe(2)
        await file(`ends/${kind}.csv`, columns + row(2) + row(3))
        const done = await run('sources', 'run', `ends-${kind}`)
        expect(done, kind).toMatchObject({ imports: [{ created: 1, changed: 1, ended: 1 }] })
        expect(await count(table), kind).toBe(2)
        const id = (done.imports as Printed[])[0]?.import
        await run('imports', 'undo', `${id}`)
        expect(await count(table), kind).toBe(2)
      }
      expect(await funding(2)).toBe(20)
      const sums = (...rows: readonly string[]) =>
        file('sums.csv', `project,date,amount,currency,count\n${rows.join('\n')}\n`)
      const at = await sums('2,2025-01-31,100,USD,4', '2,2025-02-28,50,USD,2')
      await run('sources', 'add', 'sums', '--kind', 'gifts', '--from', at, ...nightly, '--complete', '--guard', '50')
      await run('sources', 'run', 'sums')
      expect(await funding(2)).toBe(170)
      await sums('2,2025-02-28,50,USD,2')
      await run('sources', 'run', 'sums')
      expect(await funding(2)).toBe(70)
      expect(await run('books', 'check')).toMatchObject({ differences: [] })
    })
  })

  describe('giving sources', () => {
    it('refuses what cannot be a source', async () => {
      const add = (...options: readonly string[]) =>
        runCommandLine(['sources', 'add', 'wrong', ...options], environment)
      const rest = ['--kind', 'gifts', '--schedule', '30 1 * * *']
      for (const [options, said] of [
        [[...rest, '--from', 'http://example.org/x.csv'], /from: expected a folder or file/],
        [[...rest, '--from', 'https://user:secret@example.org/x.csv'], /from: expected a folder or file/],
        [['--kind', 'gifts', '--from', '/tmp', '--schedule', 'often'], /schedule: expected a cron expression/],
        [
          ['--kind', 'themes', '--from', '/tmp', '--schedule', '30 1 * * *', '--complete'],
          /complete: expected a kind whose records can end/,
        ],
      ] as const) {
        const { code, stderr } = await add(...options)
        expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(said) })
        expect(stderr).not.toMatch(/user:secret/)
      }
      expect(await findSource(store.db, 'wrong')).toBeUndefined()
    })

    it('makes the sources those of a file', async () => {
      const one = { name: 'one', kind: 'gifts', from: '/srv/one', schedule: '0 2 * * *', map: { Betrag: 'amount' } }
      const two = {
        name: 'two',
        kind: 'projects',
        from: 'https://example.org/p.xml',
        schedule: '0 3 * * *',
        complete: true,
      }
      const written = (...sources: readonly object[]) => file('sources.json', JSON.stringify(sources))
      const apply = async (...sources: readonly object[]) => await run('sources', 'apply', await written(...sources))
      await apply(one, two)
      const all = await run('sources', 'list')
      expect((all.sources as Printed[]).map(({ name }) => name)).toEqual(['one', 'two'])
      const dry = await run('sources', 'apply', await file('sources.json', JSON.stringify([two])), '--dry-run')
      expect(dry).toMatchObject({ changed: [], removed: ['one'] })
      const other = { ...one, guard: 20, map: { Betrag: 'amount', Tag: 'date' }, decimal: 'comma' }
      const changes = {
        one: [
          'map {"Betrag":"amount"}, now {"Betrag":"amount","Tag":"date"}',
          ...['decimal nothing, now "comma"', 'guard 5, now 20'],
        ],
      }
      const changed = await written(other, two)
      expect(await run('sources', 'apply', changed, '--dry-run')).toMatchObject({ changed: ['one'], changes })
      const { stdout } = await runCommandLine(['sources', 'apply', changed], environment)
      expect(stdout).toMatch(/2 sources: 1 added or changed, 0 removed\n {2}one: map .*; guard 5, now 20\n/)
      // Again, with the members in another order: nothing.
      const reversed = Object.fromEntries(
        Object.entries({ ...other, map: { Tag: 'date', Betrag: 'amount' } }).reverse(),
      )
      expect(await apply(two, reversed)).toMatchObject({ changed: [], changes: {}, removed: [] })
      expect(await apply(other, two, { ...one, name: 'three' })).toMatchObject({ changes: { three: ['added'] } })
      expect(await apply(other, two)).toMatchObject({ changed: [], removed: ['three'] })
      // A recipe says the kind and the reading; what the entry says itself counts before that.
      await file('nightly.json', JSON.stringify({ kind: 'gifts', map: { Tag: 'date' }, decimal: 'comma' }))
      const { map: _map, ...bare } = { ...one, kind: undefined }
      const named = [
        { ...bare, recipe: 'donorbox', decimal: 'comma' },
        { ...bare, name: 'three', recipe: 'nightly.json' },
      ] as const
      expect(await apply(...named, two)).toMatchObject({ changed: ['one', 'three'] })
      expect(await findSource(store.db, 'one')).toMatchObject({
        kind: 'gifts',
        reading: { others: 'left out', decimal: 'comma', map: { 'Receipt Id': 'reference' } },
      })
      expect(await findSource(store.db, 'three')).toMatchObject({
        kind: 'gifts',
        reading: { map: { Tag: 'date' }, decimal: 'comma' },
      })
      const unknown = await giving(
        ['sources', 'apply', await written({ ...bare, recipe: 'nobody' }, { ...bare, recipe: 7 })],
        2,
      )
      expect(unknown.stderr).toContain('entry 1: recipe: there is no recipe nobody')
      expect(unknown.stderr).toContain('entry 2: recipe: expected how files are read: a recipe')
      expect(await apply()).toMatchObject({ removed: ['one', 'three', 'two'] })
      const entries = [{ name: 'x', kind: 'gifts', from: 'drop', schedul: '0 1 * * *' }, { typo: 1 }, 'text', one]
      const wrong = await giving(['sources', 'apply', await written(...(entries as object[]))], 2)
      for (const said of [
        'source x, from: expected a folder or file with its whole path',
        ', got drop; schedule: expected a cron expression such as 30 1 * * *, got nothing; schedul: expected schedule, or another one of name, kind, from',
        '; entry 2, name: expected 1 to 63',
        '; typo: expected one of name, kind, from',
        '; entry 3, name: expected 1 to 63 small letters, digits and hyphens, got nothing; kind: ',
      ]) {
        expect(wrong.stderr).toContain(said)
      }
      expect(await findSource(store.db, 'one')).toBeUndefined()
      expect((await giving(['audit'])).events).toEqual(
        expect.arrayContaining([expect.objectContaining({ action: 'source-removed', subject: 'source one' })]),
      )
    })
  })
})
