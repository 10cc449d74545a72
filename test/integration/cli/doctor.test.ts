import { execFileSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Diagnosis } from '../../../src/cli/service/doctor-inspections.js'
import { openStore } from '../../../src/platform/database/store.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { startMailServer } from '../../support/servers/mail-server.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

describe('giving doctor', { shuffle: false }, async () => {
  const { url, store } = await testDatabase()
  let served: Record<string, string> = {}
  const answering = createServer((_request, response) => response.writeHead(200, served).end('{}'))
  const folder = await temporaryFolder()
  await new Promise<void>((resolve) => answering.listen(0, '127.0.0.1', resolve))
  afterAll(async () => {
    answering.close()
  })

  const healthy = () => ({
    ...{ DATABASE_URL: url, GIVING_DATA_DIR: path.join(folder, 'data'), REPORTING_ORG_REF: 'US-EIN-123456789' },
    ...{ BASE_URL: `http://127.0.0.1:${(answering.address() as AddressInfo).port}`, LOG_LEVEL: 'silent' },
  })
  const examine = async (changes: Record<string, string> = {}) => {
    const { code, stdout } = await runCommandLine(['doctor', '--json'], { ...healthy(), ...changes })
    const { diagnoses } = JSON.parse(stdout) as { diagnoses: Diagnosis[] }
    const toFix = diagnoses.filter(({ state }) => state === 'fix')
    expect(code).toBe(toFix.length > 0 ? 1 : 0)
    for (const { next } of toFix) expect(next).toMatch(/\w/)
    const told = toFix.map(({ about, message }) => `${about}: ${message}`)
    // The machine that tests may have a full disk.
    return { diagnoses, toFix: told.filter((line) => !line.endsWith('of its disk are free')) }
  }

  it('finds nothing to fix where all is well, and says what it looked at', async () => {
    const { diagnoses, toFix } = await examine()
    expect(toFix).toEqual([])
    expect([...new Set(diagnoses.map(({ about }) => about))]).toEqual([
      ...[
        'configuration',
        'secrets',
        'data directory',
        'database',
        'queue',
        'service',
        'schedule',
        'backup',
        'standard',
        'certificate',
      ],
      ...['public address', 'upstream', 'payments', 'mail', 'sources', 'bucket', 'registry'],
    ])
  })

  it('names a misspelt variable, and the one that may be meant', async () => {
    const misspelt = { REPORTING_ORG_REFF: 'x', DEFAULT_CURENCY: 'EUR', DEFAULT_LANGAUGE: 'de', SMTP_URL_FILES: 'x' }
    const { diagnoses } = await examine({ ...misspelt, HOSTNAME: 'a', PGPORT: '1', NODE_ENV: 'production' })
    const said = diagnoses.filter(({ message }) => message.includes('no such variable'))
    expect(said.map(({ state, message }) => [state, message.replace(/ is set, .*; (\w+) may.*/, ' -> $1')])).toEqual([
      ['note', 'REPORTING_ORG_REFF -> REPORTING_ORG_REF'],
      ['note', 'DEFAULT_CURENCY -> DEFAULT_CURRENCY'],
      ['note', 'DEFAULT_LANGAUGE -> DEFAULT_LANGUAGE'],
      ['note', 'SMTP_URL_FILES -> SMTP_URL_FILE'],
    ])
  })

  it('names variables that no longer exist, with what there is instead', async () => {
    const { diagnoses, toFix } = await examine({ OPS_TWO_PERSONS: 'true' })
    expect(toFix).toEqual([])
    expect(diagnoses.filter(({ about, state }) => about === 'configuration' && state === 'note')).toMatchObject([
      { message: expect.stringMatching(/^OPS_TWO_PERSONS is set, and no longer exists: each operator decides alone/) },
    ])
  })

  it('notices that another store answers at the public address', async () => {
    served = { 'x-release': '20261101T020000Z-7' }
    const { toFix } = await examine()
    served = {}
    expect(toFix).toEqual([
      expect.stringMatching(
        /^public address: http:\S+ serves release 20261101T020000Z-7, which is not in .*another store/,
      ),
    ])
  })

  it('signs in to the mail server, and sends nothing', async () => {
    const { url, taken } = await startMailServer()
    const { diagnoses } = await examine({ SMTP_URL: url, MAIL_FROM: 'receipts@giving.example' })
    expect(diagnoses).toContainEqual({ about: 'mail', state: 'good', message: `${new URL(url).host} takes mail` })
    expect(taken).toEqual([])
  })

  it('prints a line for each finding, with the next step', async () => {
    const { code, stdout } = await runCommandLine(['doctor'], { ...healthy(), PUBLISH_SCHEDULE: 'daily' })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^FIX {3}configuration: {2}PUBLISH_SCHEDULE: expected a cron .* -> docs\/reference\/configuration\.md$/m,
    )
    expect(stdout).toMatch(/^ok {4}database: +PostgreSQL \d+\.\d+, given by DATABASE_URL$/m)
  })

  it('counts the connections of the processes that run', async () => {
    const names = ['giving api 1@a', 'giving api 1@b', 'giving worker 2@a', 'giving worker 3@a', 'giving', 'campaign']
    const stores = names.map((applicationName) => openStore({ url, max: 1, applicationName }))
    for (const store of stores) await store.db.query('select 1')
    const { diagnoses } = await examine({
      UPSTREAM_URL: 'http://127.0.0.1:9',
      UPSTREAM_API_KEY: 'k',
      REPORTING_ORG_REF: 'US-EIN-1',
    })
    for (const store of stores) await store.close()
    const said = 'the processes that run (2 of giving api, 2 of giving worker) need up to 92'
    expect(diagnoses.map(({ message }) => message)).toContainEqual(expect.stringContaining(said))
  })

  it.each<[string, () => Promise<Record<string, string>>, RegExp]>([
    [
      'a database that is away',
      async () => ({ DATABASE_URL: 'postgres://giving@127.0.0.1:9/x' }),
      /^database: .*cannot be reached/,
    ],
    [
      'an address where nobody answers',
      async () => ({ BASE_URL: 'http://127.0.0.1:9' }),
      /^public address: .*ECONNREFUSED/,
    ],
    [
      'an upstream that is away',
      async () => ({ UPSTREAM_URL: 'http://127.0.0.1:9', UPSTREAM_API_KEY: 'k' }),
      /^upstream: .*ECONNREFUSED/,
    ],
    [
      'a mail server that is away',
      async () => ({ SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'receipts@giving.example' }),
      /^mail: 127\.0\.0\.1:9: .*ECONNREFUSED/,
    ],
    [
      'a mail server that refuses the password',
      async () => {
        const refused = Object.assign(new Error('no such user'), { responseCode: 535 })
        const { port } = await startMailServer({
          disabledCommands: ['STARTTLS'],
          onAuth: (_a, _s, done) => done(refused),
        })
        return { SMTP_URL: `smtp://giving:wrong@127.0.0.1:${port}`, MAIL_FROM: 'receipts@giving.example' }
      },
      /^mail: 127\.0\.0\.1:\d+: Invalid login: 535 /,
    ],
    [
      'too few connections',
      async () => ({ DATABASE_POOL_SIZE: '150', WORKER_PROCESSES: '1' }),
      /^database: .* an API and a worker need up to 371/,
    ],
    [
      'too few connections for several processes',
      async () => ({ DATABASE_POOL_SIZE: '150', WORKER_PROCESSES: '2' }),
      /^database: .* an API and a worker of 2 processes need up to 534/,
    ],
    [
      'too few connections for a worker that mirrors an upstream',
      async () => ({ DATABASE_POOL_SIZE: '150', WORKER_PROCESSES: '1', UPSTREAM_URL: 'http://127.0.0.1:9' }),
      /^database: .* an API and a worker need up to 373/,
    ],
    [
      'a server that is no standby in the place of one',
      async () => ({ DATABASE_READ_URL: url }),
      /^database: DATABASE_READ_URL: the standby \S+ is not read from: it is no standby/,
    ],
    [
      'a certificate for a Redis without TLS',
      async () => ({ REDIS_URL: 'redis://127.0.0.1:9', REDIS_CA_FILE: '/etc/ca.pem' }),
      /^configuration: REDIS_CA_FILE: expected nothing, unless REDIS_URL begins with rediss/,
    ],
    [
      'a data directory that is a file',
      async () => {
        await writeFile(path.join(folder, 'file'), '')
        return { GIVING_DATA_DIR: path.join(folder, 'file') }
      },
      /^data directory: .*cannot be written/,
    ],
    [
      'a file with a secret that every user can read',
      async () => {
        const file = path.join(folder, 'database-url')
        await writeFile(file, url)
        await chmod(file, 0o644)
        return { DATABASE_URL: '', DATABASE_URL_FILE: file }
      },
      /^secrets: every user of this machine can read DATABASE_URL_FILE/,
    ],
    [
      'a certificate that ends soon',
      async () => {
        const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')]
        const made = `req -x509 -newkey rsa:2048 -nodes -subj /CN=giving.example -days 5 -keyout ${key} -out ${cert}`
        execFileSync('openssl', made.split(' '), { stdio: 'ignore' })
        return { TLS_CERT_FILE: cert, TLS_KEY_FILE: key }
      },
      /^certificate: CN=giving\.example is valid until/,
    ],
  ])('finds %s', async (_what, changes, message) => {
    const { toFix } = await examine(await changes())
    expect(toFix.filter((one) => message.test(one))).toHaveLength(1)
  })

  it('finds migrations that are pending', async () => {
    await store.db.query('delete from schema_migration where version = (select max(version) from schema_migration)')
    expect((await examine()).toFix).toEqual([expect.stringMatching(/^database: migrations are pending: \d+/)])
  })
})
