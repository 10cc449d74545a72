import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { type ClientRequest, request } from 'node:http'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Uploads, uploadLimits } from '../../../src/extensions/console/uploads.js'
import { type Console, openConsole } from '../../support/api/console.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const database = await testDatabase()
const { db } = database.store
const environment = async () => ({
  DATABASE_URL: database.url,
  GIVING_DATA_DIR: await temporaryFolder(),
  DEFAULT_CURRENCY: 'EUR',
})
const projects = 'externalId,title,status\nw-1,Wells,active\n'
const boundary = 'x-boundary'

/** The parts of a form as bytes, with whatever names an attacker gives. */
function partsOf(parts: readonly (readonly [disposition: string, content: string])[]): string {
  return `${parts.map(([disposition, content]) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`).join('')}--${boundary}--\r\n`
}

describe('an attacker who sends files to the console', () => {
  let one: Console
  let dataDir: string
  beforeAll(async () => {
    const given = await environment()
    dataDir = given.GIVING_DATA_DIR
    one = await openConsole(given)
  })
  afterAll(() => one.close())
  const tokenOf = async (of: Console, headers: Record<string, string> = {}) =>
    /name="token" value="(\w+)"/.exec((await of.ask('/imports', headers)).text)?.[1] ?? ''
  const folders = async (of = dataDir) =>
    existsSync(path.join(of, 'uploads')) ? await readdir(path.join(of, 'uploads')) : []
  const send = (of: Console, headers: Record<string, string>): ClientRequest =>
    request(`${of.base}/imports/uploads`, {
      method: 'POST',
      headers: { origin: of.base, 'content-type': `multipart/form-data; boundary=${boundary}`, ...headers },
    })
  const answerOf = async (sent: ClientRequest) => {
    const [response] = await once(sent, 'response')
    return { status: response.statusCode as number, text: await text(response) }
  }
  const sendParts = async (parts: Parameters<typeof partsOf>[0], headers: Record<string, string> = {}) => {
    const sent = send(one, headers)
    sent.end(partsOf(parts))
    return await answerOf(sent)
  }
  const form = async (more: Parameters<typeof partsOf>[0]) =>
    [['name="token"', await tokenOf(one)], ['name="name"', 'Mallory'], ...more] as const

  it.each([
    ['../../../../etc/cron.d/evil.csv', 'evil.csv'],
    ['..\\..\\feeds\\evil.csv', 'evil.csv'],
    ['/etc/passwd', 'passwd'],
    ['..', 'file'],
    ['%2e%2e%2fprojects.csv', '2e-2e-2fprojects.csv'],
    ['_upload.json', 'upload.json'],
    ['_refused', 'refused'],
    ['nul\u0000l.csv', 'null.csv'],
    ['evil\u202Evsc.exe', 'evilvsc-exe'],
    ['<script>alert(1)</script>.csv', 'script-.csv'],
    [`${'a'.repeat(3_000)}.csv`, 'a'.repeat(60)],
  ])('cannot name a file: %j', async (name, own) => {
    const before = await folders()
    const answer = await sendParts(await form([[`name="file"; filename="${name}"`, projects]]))
    expect(answer.status).toBe(303)
    const made = (await folders()).filter((id) => !before.includes(id))
    expect(made).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)])
    expect((await readdir(path.join(dataDir, 'uploads', made[0] ?? ''))).sort()).toEqual(['_upload.json', own].sort())
    const page = (await one.ask(`/imports/uploads/${made[0]}`)).text
    expect(page).toContain('projects')
    expect(page).not.toMatch(/<script|\0|\u202E/)
  })

  it.each([
    ['a picture', 'gifts.csv', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['a web page', 'gifts.csv', '<!doctype html><html><body><script>alert(1)</script></body></html>'],
    ['a program', 'projects.csv', Buffer.concat([Buffer.from('7f454c4602010100', 'hex'), Buffer.alloc(5_000, 1)])],
    ['an archive of many bytes', 'gifts.csv.gz', gzipSync(Buffer.alloc(110_000_000, 'a'))],
    [
      'a document that names entities',
      'projects.xml',
      '<!DOCTYPE p [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><projects><project><id>1</id><title>&b;</title></project></projects>',
    ],
    [
      'a document that reads another file',
      'projects.xml',
      '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]><projects><project><id>1</id><title>&x;</title></project></projects>',
    ],
    ['brackets', 'projects.json', '['.repeat(100_000)],
    ['nothing but line ends', 'gifts.csv', '\n'.repeat(10_000)],
    ['one line without end', 'gifts.csv', 'a,'.repeat(500_000)],
  ])('cannot make a file anything but what it is: %s', async (_what, name, content) => {
    const sent = await one.sendFiles([[name, content as string]], { name: 'Mallory' })
    expect(sent.status).toBe(303)
    const { status, text: page } = await one.ask(String(sent.headers.location))
    expect(status).toBe(200)
    expect(page).toMatch(/It cannot be read|cannot be read: |Say what its rows are|0 would be created/)
    expect(page).not.toMatch(/<script|root:x:0/)
    expect((await one.confirm(String(sent.headers.location), { name: 'Mallory', do: 'import' })).headers.location).toBe(
      sent.headers.location,
    )
    expect((await one.ask('/healthz')).status).toBe(200)
  })

  it('cannot send more than a file may have, however it is announced', async () => {
    const given = await environment()
    const small = await openConsole(given, { bytes: 1_000_000, files: 3 })
    onTestFinished(small.close)
    const announced = send(small, { 'content-length': '99999999999' })
    announced.flushHeaders()
    expect(await answerOf(announced)).toMatchObject({ status: 413 })
    announced.destroy()
    const token = await tokenOf(small)
    const sent = send(small, {})
    sent.write(
      partsOf([
        ['name="token"', token],
        ['name="name"', 'M'],
        ['name="file"; filename="a.csv"', ''],
      ]).replace(`\r\n--${boundary}--\r\n`, ''),
    )
    const answered = answerOf(sent)
    const block = Buffer.alloc(1_000_000, 'a')
    for (let at = 0; at < 20; at++) sent.write(block)
    sent.end()
    expect(await answered).toMatchObject({ status: 413, text: expect.stringContaining('a file has at most 0 MB here') })
    expect(await folders(given.GIVING_DATA_DIR)).toEqual([])
    const many = Array.from({ length: 4 }, (_, at) => [`${at}.csv`, projects] as const)
    expect((await small.sendFiles(many, { name: 'M' })).status).toBe(413)
    expect(await folders(given.GIVING_DATA_DIR)).toEqual([])
  })

  it('cannot fill the disk with files that wait', async () => {
    const given = await environment()
    const small = await openConsole(given, { allBytes: 2_500 })
    onTestFinished(small.close)
    const statuses: number[] = []
    for (let at = 0; at < 3; at++)
      statuses.push((await small.sendFiles([['p.csv', projects.padEnd(1_000)]], { name: 'M' })).status)
    expect(statuses).toEqual([303, 303, 503])
    expect(await folders(given.GIVING_DATA_DIR)).toHaveLength(2)
  })

  it('cannot hold a place by sending slowly, nor more places than there are', async () => {
    const given = await environment()
    const small = await openConsole(given, { idleMs: 1_500, senders: 2 })
    onTestFinished(small.close)
    const token = await tokenOf(small)
    const begin = `${partsOf([
      ['name="token"', token],
      ['name="name"', 'M'],
      ['name="file"; filename="a.csv"', projects],
    ]).replace(`\r\n--${boundary}--\r\n`, '')}`
    const slow = [send(small, {}), send(small, {})]
    const answers = slow.map(answerOf)
    for (const one of slow) one.write(begin)
    await vi.waitFor(async () => expect(await folders(given.GIVING_DATA_DIR)).toHaveLength(2), { timeout: 10_000 })
    expect((await small.sendFiles([['p.csv', projects]], { name: 'M' })).status).toBe(503)
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('nothing came for 1.5 s') })
    }
    for (const one of slow) one.destroy()
    expect(await folders(given.GIVING_DATA_DIR)).toEqual([])
    expect((await small.sendFiles([['p.csv', projects]], { name: 'M' })).status).toBe(303)
  })

  it('cannot import a file twice by clicking twice', async () => {
    const sent = await one.sendFiles([['projects.csv', projects]], { name: 'Mallory' })
    const address = String(sent.headers.location)
    const page = (await one.ask(address)).text
    const [, token = ''] = /name="token" value="(\w+)"/.exec(page) ?? []
    const click = () =>
      one.ask(address, { origin: one.base }, new URLSearchParams({ token, name: 'Mallory', do: 'import' }).toString())
    const before = (await db.query('select from import')).rows.length
    const answers = await Promise.all([click(), click(), click()])
    expect(answers.every(({ status }) => status === 303 || status === 503)).toBe(true)
    await vi.waitFor(async () => expect((await one.ask(address)).status).toBe(303))
    expect((await db.query('select from import')).rows.length).toBe(before + 1)
  })

  it('cannot see or change what another operator has sent', async () => {
    const both = await openConsole({
      ...(await environment()),
      OPS_TOKEN: 'ana+import:a-long-token-of-ana, bo+import:a-long-token-of-bobby, cy:a-long-token-of-cyril',
    })
    onTestFinished(both.close)
    const [ana, bo, cy] = ['ana', 'bobby', 'cyril'].map((name) => ({ authorization: `Bearer a-long-token-of-${name}` }))
    const sent = await both.sendFiles([['gifts of ana.csv', projects]], {}, ana)
    const address = String(sent.headers.location)
    expect((await both.ask(address, ana)).status).toBe(200)
    for (const place of [address, `${address}/refused`, `/sources/add?upload=${address.slice(-36)}`]) {
      expect([place, (await both.ask(place, bo)).status]).toEqual([place, 404])
      expect([place, (await both.ask(place, cy)).status]).toEqual([place, 403])
    }
    expect((await both.ask('/imports', bo)).text).not.toContain('gifts of ana.csv')
    expect((await both.ask('/imports', cy)).text).not.toContain('type="file"')
    const [, token = ''] = /name="token" value="(\w+)"/.exec((await both.ask(address, ana)).text) ?? []
    for (const who of [bo, cy]) {
      const body = new URLSearchParams({ token, do: 'remove' }).toString()
      expect((await both.ask(address, { origin: both.base, ...who }, body)).status).toBe(400)
    }
    expect((await both.sendFiles([['a.csv', projects]], {}, cy)).status).toBe(403)
    expect((await both.ask(address, ana)).status).toBe(200)
  })

  it('cannot have a page elsewhere send files or choices', async () => {
    const before = await folders()
    const file = ['name="file"; filename="projects.csv"', projects] as const
    const token = await tokenOf(one)
    const foreign = /name="token" value="(\w+)"/.exec((await one.ask('/publish')).text)?.[1] ?? ''
    const named = [['name="name"', 'Mallory'], file] as const
    for (const [parts, headers] of [
      [[['name="token"', token], ...named], { origin: 'http://evil.example' }],
      [[['name="token"', token], ...named], { origin: 'null' }],
      [[['name="token"', token], ...named], { origin: '' }],
      [named, {}],
      [[['name="token"', foreign], ...named], {}],
      // A token that comes behind the file is too late.
      [[...named, ['name="token"', token]], {}],
    ] as const) {
      expect(await sendParts(parts, headers)).toMatchObject({
        status: 400,
        text: expect.stringContaining('the form was not accepted'),
      })
    }
    expect(await folders()).toEqual(before)
  })

  it.each([
    ['no boundary', 'multipart/form-data', 'x'],
    ['an empty form', `multipart/form-data; boundary=${boundary}`, ''],
    [
      'a form that ends within a part',
      `multipart/form-data; boundary=${boundary}`,
      `--${boundary}\r\nContent-Disposition: form-data; name="token"\r\n\r\nabc`,
    ],
    [
      'a part without a name',
      `multipart/form-data; boundary=${boundary}`,
      `--${boundary}\r\nContent-Type: text/csv\r\n\r\nabc\r\n--${boundary}--\r\n`,
    ],
    [
      'a header without end',
      `multipart/form-data; boundary=${boundary}`,
      `--${boundary}\r\nX-Y: ${'z'.repeat(100_000)}`,
    ],
    [
      'a thousand parts',
      `multipart/form-data; boundary=${boundary}`,
      partsOf(Array.from({ length: 1_000 }, () => ['name="a"', 'b'] as const)),
    ],
    [
      'a field of a megabyte',
      `multipart/form-data; boundary=${boundary}`,
      partsOf([['name="token"', 'a'.repeat(1_000_000)]]),
    ],
    ['no form of files', 'application/x-www-form-urlencoded', 'token=a'],
    ['another type', 'application/json', '{}'],
  ])('cannot trouble it with %s', async (_what, type, body) => {
    const before = await folders()
    const sent = send(one, { 'content-type': type })
    sent.end(body)
    const { status } = await answerOf(sent)
    expect([400, 413, 415]).toContain(status)
    expect(await folders()).toEqual(before)
    expect((await one.ask('/healthz')).status).toBe(200)
  })

  it('cannot put formulas or markup on the page, nor into the refused rows', async () => {
    const evil = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
    const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`
    const sent = await one.sendFiles(
      [
        [
          'projects.csv',
          `externalId,title,status,${quoted(evil)}\nf-1,"=HYPERLINK(""http://evil.example"")",active,${quoted(evil)}\nf-2,+1+cmd|' /C calc'!A0,${quoted(evil)},@SUM(1)\n`,
        ],
      ],
      { name: 'Mallory' },
    )
    const address = String(sent.headers.location)
    const { text: page, headers } = await one.ask(address)
    expect(page).toContain('&lt;img src=x')
    expect(page).not.toMatch(/<script|<img|onerror=alert\(1\)>(?!&)/)
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'; form-action 'self'/)
    const refused = await one.ask(`${address}/refused`)
    expect(refused.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    })
    expect(refused.text).toContain(`,'+1+cmd|`)
    expect(refused.text).toContain(`,'@SUM(1)`)
    expect(refused.text).not.toMatch(/(?:^|,)"?[=+@]/m)
  })

  it.each([
    ['no JSON', '['.repeat(60_000)],
    ['a list', '[]'],
    ['no member of a recipe', '{"secretFile":"/etc/passwd"}'],
    ['a kind of its own', '{"kind":"<script>"}'],
    ['more than a recipe has', JSON.stringify({ about: 'a'.repeat(70_000) })],
  ])('cannot give a recipe that is none: %s', async (_what, recipe) => {
    const before = await folders()
    const answer = await sendParts(
      await form([
        ['name="recipe"; filename="recipe.json"', recipe],
        ['name="file"; filename="projects.csv"', projects],
      ]),
    )
    expect([400, 413]).toContain(answer.status)
    expect(answer.text).not.toContain('<script')
    expect(await folders()).toEqual(before)
  })

  it.each([
    ['columns that are not there', { kind: 'projects', map: { 'No <b>such</b> column': 'title' } }],
    [
      'names of every object',
      JSON.parse(
        '{"kind":"projects","map":{"__proto__":"title","constructor":"status"},"values":{"__proto__":{"a":"b"}}}',
      ),
    ],
    ['fields that are not there', { kind: 'projects', map: { title: '__proto__', status: 'toString' } }],
    [
      'markup as constants',
      { kind: 'projects', constants: { title: '<script>alert(1)</script>' }, others: 'left out' },
    ],
    ['many columns', { kind: 'projects', ignore: Array.from({ length: 5_000 }, (_, at) => `c${at}`) }],
    ['many rules', { kind: 'projects', without: { title: Array.from({ length: 5_000 }, (_, at) => `${at}*`) } }],
  ])('cannot do harm with a recipe: %s', async (_what, recipe) => {
    const answer = await sendParts(
      await form([
        ['name="recipe"; filename="recipe.json"', JSON.stringify(recipe)],
        ['name="file"; filename="projects.csv"', 'externalId,title,status\nr-1,Wells,active\n'],
      ]),
    )
    expect(answer.status).toBe(303)
    const [newest = ''] = (await one.ask('/imports')).text.match(/\/imports\/uploads\/[0-9a-f-]{36}/g)?.slice(-1) ?? []
    const { status, text: page } = await one.ask(newest)
    expect(status).toBe(200)
    expect(page).not.toMatch(/<script|<b>such/)
    expect(({} as { a?: string }).a).toBeUndefined()
  })

  it('cannot read files of the machine by the name of a recipe', async () => {
    for (const named of ['/etc/passwd', '../../package.json', 'civicrm.json', '__proto__']) {
      const answer = await sendParts(
        await form([
          ['name="named"', named],
          ['name="file"; filename="projects.csv"', projects],
        ]),
      )
      expect([named, answer.status]).toEqual([named, 404])
    }
  })

  it('finds nothing of a file after a day', async () => {
    let now = new Date('2026-11-24T12:00:00Z')
    const folder = await temporaryFolder()
    const uploads = new Uploads(folder, () => now, uploadLimits)
    const chunks = async function* () {
      yield Buffer.from(projects)
    }
    const upload = await uploads.add('ana', 'projects.csv', chunks())
    expect(await readFile(uploads.pathOf(upload), 'utf8')).toBe(projects)
    now = new Date('2026-11-25T11:59:00Z')
    await uploads.prune()
    expect(await uploads.list('ana')).toHaveLength(1)
    now = new Date('2026-11-25T12:01:00Z')
    await uploads.prune()
    expect(await readdir(path.join(folder, 'uploads'))).toEqual([])
  })
})
