import { mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openOfficialSchema } from '../../../src/cli/wiring/official-schema.js'
import { StandardDownloads } from '../../../src/cli/wiring/standard-downloads.js'
import { codeListNames } from '../../../src/iati/standard/index.js'
import { type PullOptions, pullStandard } from '../../../src/iati/standard/pull.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { selfSigned } from '../../support/servers/self-signed.js'
import { type StandardServer, startStandardServer } from '../../support/servers/standard-server.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

let dataDir: string
let directory: string
let server: StandardServer
beforeEach(async () => {
  dataDir = await temporaryFolder()
  directory = join(dataDir, 'standard')
  server = await startStandardServer()
})
afterEach(async () => {
  await server.close()
})

const activitiesSchema = '/schemas/iati-activities-schema.xsd'
const patient = { connectMs: 20_000, idleMs: 20_000, totalMs: 60_000, backoffMs: 1 }

async function pull({
  maxBytes,
  idleMs,
  ...options
}: Partial<PullOptions> & { maxBytes?: number; idleMs?: number } = {}) {
  await using downloads = new StandardDownloads({
    ...patient,
    ...(maxBytes && { maxBytes }),
    ...(idleMs && { idleMs }),
  })
  return await pullStandard({
    directory,
    from: server.url,
    now: new Date(),
    signal: new AbortController().signal,
    verify: async () => undefined,
    download: downloads.get,
    ...options,
  })
}

async function told(...args: readonly string[]) {
  const { code, stdout, stderr } = await runCommandLine(args, { GIVING_DATA_DIR: dataDir })
  return { code, lines: [...stdout.split('\n').slice(0, -1), ...stderr.split('\n').slice(0, -1)] }
}

const pullCommand = () => told('standard', 'pull', '--from', server.url)

describe('a pull', () => {
  it('brings every file, checked and recorded', async () => {
    const { code, lines } = await pullCommand()
    expect(code).toBe(0)
    expect(lines[0]).toBe(`pulled ${4 + codeListNames.length} files of version 2.03 into ${directory}`)
    const record = JSON.parse(await readFile(join(directory, 'pulled.json'), 'utf8')) as { files: { name: string }[] }
    expect(record).toMatchObject({ version: '2.03', from: [server.url] })
    const names = ['schemas', 'codelists'].map((folder) =>
      readdir(join(directory, folder)).then((all) => all.map((name) => `${folder}/${name}`)),
    )
    expect(record.files.map(({ name }) => name).sort()).toEqual((await Promise.all(names)).flat().sort())
  })

  it('is shown with its date and how it differs from what is built in', async () => {
    expect((await told('standard', 'show')).lines).toContain(
      'pulled: nothing (giving standard pull downloads the official files)',
    )
    server.files.set('/codelists/ActivityScope.json', JSON.stringify({ data: [{ code: '1' }, { code: '9' }] }))
    await pullCommand()
    const { code, lines } = await told('standard', 'show')
    expect(code).toBe(0)
    expect(lines.join('\n')).toMatch(/^built in: version 2\.03, \d+ code lists$/m)
    expect(lines.join('\n')).toMatch(/^pulled: version 2\.03, \d+ files, at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/m)
    expect(lines).toContain('  code list ActivityScope: 1 active codes added, 7 removed since the built-in data')
    expect(lines).toContain('  schemas/iati-common.xsd differs from the file that the built-in data was made from')
    expect(lines).toContain(`official schema used: ${directory}`)
  })

  it('of more than a year ago is named by doctor', async () => {
    const standard = async () =>
      (await told('doctor')).lines.filter((line) => line.includes('everything published is also checked'))
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
    await pull({ now: daysAgo(364) })
    expect(await standard()).toEqual([expect.stringMatching(/^ok /)])
    await pull({ now: daysAgo(366) })
    expect(await standard()).toEqual([expect.stringMatching(/^note .*giving standard pull/)])
  })

  it('is used by every check from then on', async () => {
    const config = readConfig({ GIVING_DATA_DIR: dataDir })
    const none = await openOfficialSchema(config)
    expect(none).toBeUndefined()
    await pullCommand()
    const xsd = await openOfficialSchema(config)
    const verdicts = xsd?.validate(
      ['<iati-activity><iati-identifier/></iati-activity>', '<iati-activity/>'],
      'activity',
    )
    xsd?.dispose()
    expect(verdicts?.map((notices) => notices.map(({ code }) => code))).toEqual([[], ['xsd-invalid']])
    const file = join(dataDir, 'file.xml')
    await writeFile(file, '<iati-activities version="2.03"><iati-activity/></iati-activities>')
    const { code, lines } = await told('validate', file)
    expect(code).toBe(1)
    expect(lines.join('\n')).toContain('xsd-invalid')
  })

  it('takes the place of an earlier one in one step and leaves nothing behind', async () => {
    await pull()
    const first = await readlink(directory)
    await pull()
    expect(await readlink(directory)).not.toBe(first)
    expect((await readdir(dataDir)).sort()).toEqual(['standard', await readlink(directory)].sort())
  })

  it('tries again what may pass', async () => {
    let failures = 0
    server.answers.set(activitiesSchema, (_request, response) => {
      failures += 1
      if (failures === 1) response.writeHead(503).end()
      else if (failures === 2) response.destroy()
      else {
        server.answers.delete(activitiesSchema)
        response.end(server.files.get(activitiesSchema))
      }
    })
    await pull()
    expect(failures).toBe(3)
  })

  it('follows a redirect', async () => {
    server.files.set('/moved.xsd', server.files.get(activitiesSchema) ?? '')
    server.answers.set(activitiesSchema, (_request, response) =>
      response.writeHead(302, { location: '/moved.xsd' }).end(),
    )
    expect((await pull()).pulled.files[0]?.name).toBe('schemas/iati-activities-schema.xsd')
  })

  it('does without code lists that are not published', async () => {
    server.files.delete('/codelists/FileFormat.json')
    expect((await pull()).absent).toEqual(['codelists/FileFormat.json'])
  })
})

describe('a pull that fails', () => {
  const answered = (path: string, answer: Parameters<StandardServer['answers']['set']>[1]) => () =>
    void server.answers.set(path, answer)
  const redirect = (location: string) =>
    answered(activitiesSchema, (_request, response) => response.writeHead(302, { location }).end())

  it.each<[string, () => unknown, RegExp]>([
    [
      'without a schema',
      () => server.files.delete(activitiesSchema),
      /expected a schema at http.*iati-activities-schema\.xsd, got none/,
    ],
    [
      'with a schema of another version',
      () => server.files.set(activitiesSchema, '<schema version="2.02"/>'),
      /expected version 2\.03, got 2\.02/,
    ],
    [
      'with a page instead of a schema',
      () => server.files.set(activitiesSchema, '<html>Welcome</html>'),
      /expected an XML Schema, got something else/,
    ],
    [
      'with a page instead of a code list',
      () => server.files.set('/codelists/Country.json', '<html/>'),
      /Country\.json is not what it should be: expected a code list in JSON/,
    ],
    [
      'with an empty code list',
      () => server.files.set('/codelists/Country.json', '{"data":[]}'),
      /expected a code list with active codes, got none/,
    ],
    [
      'without any code list',
      () => codeListNames.map((name) => server.files.delete(`/codelists/${name}.json`)),
      /expected code lists, got none of them/,
    ],
    [
      'with a server that is broken',
      answered('/schemas/xml.xsd', (_request, response) => response.writeHead(500).end()),
      /xml\.xsd could not be downloaded in 3 attempts: the server answered 500/,
    ],
    [
      'with a refusal',
      answered('/schemas/xml.xsd', (_request, response) => response.writeHead(403).end()),
      /expected the file at http.*xml\.xsd, got the status 403/,
    ],
    [
      'with an answer that breaks off',
      answered('/schemas/xml.xsd', (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' })
        response.write('<xs')
        setTimeout(() => response.destroy(), 10)
      }),
      /xml\.xsd could not be downloaded in 3 attempts/,
    ],
    [
      'with an answer that stalls',
      answered('/schemas/xml.xsd', (_request, response) => void response.write('<xs')),
      /xml\.xsd could not be downloaded in 3 attempts/,
    ],
    [
      'with an endless answer',
      answered('/schemas/xml.xsd', (_request, response) => {
        const more = () => void response.write(Buffer.alloc(65_536), more)
        more()
      }),
      /expected at most 1000000 bytes at http.*xml\.xsd, got more/,
    ],
    ['with redirects without end', redirect(activitiesSchema), /expected at most 3 redirects from http/],
    [
      'with a redirect to plain HTTP elsewhere',
      redirect('http://192.0.2.1/x'),
      /expected an https address, or http on this machine, got http:\/\/192\.0\.2\.1\/x/,
    ],
  ])('%s says so and leaves what was there', async (what, break_, message) => {
    await pull()
    const before = await readlink(directory)
    break_()
    await expect(pull({ maxBytes: 1_000_000, ...(what.endsWith('stalls') && { idleMs: 500 }) })).rejects.toMatchObject({
      code: 'standard-unavailable',
      message: expect.stringMatching(message),
    })
    expect((await readdir(dataDir)).sort()).toEqual(['standard', before].sort())
    expect(await readlink(directory)).toBe(before)
  })

  it('because the schemas cannot be used leaves what was there', async () => {
    await pull()
    const before = await readlink(directory)
    server.files.set(
      activitiesSchema,
      '<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" version="2.03"><xsd:nonsense/></xsd:schema>',
    )
    const { code, lines } = await pullCommand()
    expect({ code, lines }).toEqual({ code: 2, lines: [expect.stringMatching(/the schemas in .+ cannot be used$/)] })
    expect(await readlink(directory)).toBe(before)
  })

  it('because it was interrupted leaves nothing', async () => {
    const stop = new AbortController()
    server.answers.set(activitiesSchema, () => stop.abort())
    await expect(pull({ signal: stop.signal })).rejects.toMatchObject({ code: 'aborted' })
    expect(await readdir(dataDir)).toEqual([])
  })

  it('because nobody answers says so', async () => {
    await server.close()
    await expect(pull()).rejects.toMatchObject({
      code: 'standard-unavailable',
      message: expect.stringMatching(/could not be downloaded in 3 attempts/),
    })
  })

  it.each(['http://example.org/iati', 'ftp://127.0.0.1/', 'somewhere'])('refuses the mirror %s', async (from) => {
    await expect(pull({ from })).rejects.toThrow('expected an https address, or http on this machine, got')
  })

  it('refuses a certificate that nobody vouches for', async () => {
    const https = createServer(selfSigned, (_request, response) => response.end('<schema version="2.03"/>'))
    await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve))
    const { port } = https.address() as AddressInfo
    try {
      await expect(pull({ from: `https://localhost:${port}` })).rejects.toMatchObject({
        code: 'standard-unavailable',
        message: expect.stringMatching(/self.signed certificate/i),
      })
    } finally {
      https.closeAllConnections()
      await new Promise((resolve) => https.close(resolve))
    }
  })

  it.each<[string, () => Promise<unknown>]>([
    ['a folder', () => mkdir(join(directory, 'schemas'), { recursive: true })],
    ['a link', () => symlink(tmpdir(), directory)],
  ])('does not replace %s that someone made by hand', async (_what, make) => {
    await make()
    await expect(pull()).rejects.toMatchObject({
      code: 'storage-failed',
      message: expect.stringMatching(/of another origin: move it away/),
    })
    expect(server.asked).toEqual([])
  })
})

it('files that were changed after the pull are told', async () => {
  await pull()
  await writeFile(join(directory, 'codelists', 'Country.json'), '{}')
  const { code, lines } = await told('standard', 'show')
  expect({ code, lines }).toEqual({ code: 2, lines: [expect.stringMatching(/was changed after it was pulled/)] })
})
