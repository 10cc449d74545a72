import { execFile, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { processEnvironment } from '../../../src/platform/config/environment.js'
import { type Ended, transpileProgram } from '../../support/commands/cli.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { apiKey, startUpstream } from '../../support/servers/upstream-server.js'
import { emptyDatabase, testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const databaseUrl = (await testDatabase()).url
const program = path.join(await transpileProgram(), 'src/cli.js')
const parent = await temporaryFolder()

/** A folder, and commands that are started in it. */
async function newFolder(environment: Record<string, string> = {}) {
  const cwd = await mkdtemp(path.join(parent, 'folder-'))
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, GIVING_DATA_DIR: path.join(cwd, 'data'), DATABASE_URL: databaseUrl, ...environment }
  const end = (file: string, args: readonly string[]) =>
    new Promise<Ended>((resolve) => {
      const child = execFile(file, args, { cwd, env }, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? null : 0, stdout, stderr })
      })
      child.stdin?.end()
    })
  const terminal = path.join(import.meta.dirname, '../../support/commands/at-terminal.py')
  return {
    cwd,
    env: path.join(cwd, '.env'),
    /** In this process, which has another folder. */
    init: (...args: string[]) => runCommandLine(['init', '--file', path.join(cwd, '.env'), ...args], env),
    run: (...args: string[]) => end(process.execPath, [program, ...args]),
    /** Runs it at a terminal; each prompt gets its answer. */
    atTerminal: (answers: readonly (readonly [string, string])[], ...args: string[]) =>
      end('python3', [terminal, JSON.stringify(answers), process.execPath, program, ...args]),
    file: () => readFile(path.join(cwd, '.env'), 'utf8'),
  }
}

const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0

describe('giving init', () => {
  it('--demo writes a trial that is ready to start, closed to others, with the meaning of each variable', async () => {
    // Its schema is made by the start.
    const folder = await newFolder({ DATABASE_URL: (await emptyDatabase()).url })
    const { code, stdout } = await folder.init('--demo')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^wrote \/.*\nok .*next: giving start\n$/s)])
    expect(parseEnv(await folder.file())).toEqual({})
    expect(await folder.file()).toContain('# Currency of the platform (ISO 4217).\n# DEFAULT_CURRENCY=\n')
    expect((await stat(folder.env)).mode & 0o777).toBe(0o600)
  })

  it('takes every answer as an option, names what a person has to put in, and overwrites nothing', async () => {
    const folder = await newFolder()
    const told = ['--name', "Tara's $5 & Co", '--ref', 'GB-CHC-1164883', '--currency', 'EUR']
    const facts = ['--language', 'fr', '--publisher-type', '22', '--confirm-facts']
    const rest = [...facts, '--base-url', 'https://giving.example', '--gateway', 'stripe', '--schedule', '0 4 * * *']
    const { code, stdout, stderr } = await folder.init(...told, ...rest, '--json')
    expect([code, stderr, await readdir(folder.cwd)]).toEqual([2, expect.stringContaining('both kinds of quotes'), []])
    expect(stdout).toBe('')
    const done = await folder.init(...told.with(1, "Tara's Wells"), ...rest, '--json')
    const missing = ['STRIPE_SECRET_KEY', 'STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET']
    expect([done.code, JSON.parse(done.stdout)]).toMatchObject([
      1,
      { file: folder.env, missing, next: `put ${missing.join(', ')} into ${folder.env}, then giving doctor` },
    ])
    const written = await folder.file()
    expect(parseEnv(written)).toEqual({
      ...{ REPORTING_ORG_NAME: "Tara's Wells", REPORTING_ORG_REF: 'GB-CHC-1164883', DEFAULT_CURRENCY: 'EUR' },
      ...{ BASE_URL: 'https://giving.example', PAYMENT_GATEWAY: 'stripe', PUBLISH_SCHEDULE: '0 4 * * *' },
      ...{ DEFAULT_LANGUAGE: 'fr', REPORTING_ORG_TYPE: '22', FACTS_CONFIRMED: 'yes' },
      DONOR_KEYS: expect.stringMatching(/^1:[\w+/]{43}=$/),
    })
    const again = await folder.init('--demo')
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('.env is there already')])
    expect(await folder.file()).toBe(written)
  })

  it('leads a real publisher without a platform to mirror to an import of its files, before the start', async () => {
    const folder = await newFolder()
    const { stdout } = await folder.init('--ref', 'GB-CHC-1164883', '--confirm-facts', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      missing: [],
      next: expect.stringMatching(/^giving import .* giving start$/),
    })
  })

  it('refuses an identifier of no registration agency, and a value that the variable cannot have', async () => {
    const folder = await newFolder()
    for (const [flag, value, expected] of [
      ['--ref', 'TARA-12', 'registration agency'],
      ['--currency', 'euro', 'ISO 4217'],
      ['--gateway', 'paypal', 'sandbox, braintree, stripe'],
    ] as const) {
      const { code, stderr } = await folder.init(flag, value)
      expect([code, stderr]).toEqual([2, expect.stringContaining(`giving: ${flag}: expected `)])
      expect(stderr).toContain(expected)
    }
    expect(await readdir(folder.cwd)).toEqual([])
  })

  it.skipIf(!hasPython)('asks at a terminal, again after a wrong answer, and writes what was said', async () => {
    const folder = await newFolder()
    const { code, stdout } = await folder.atTerminal(
      [
        ['1/11 Who publishes? Name of the organisation [Giving Platform]: ', 'Wells for Tara'],
        ['2/11 Its IATI identifier; empty: a trial with demo data: ', 'WELLS'],
        ['2/11 Its IATI identifier; empty: a trial with demo data: ', 'GB-CHC-1164883'],
        ['3/11 Its type ', '60'],
        ['4/11 Its currency [USD]: ', ''],
        ['5/11 Language of its texts (ISO 639-1) [en]: ', 'german'],
        ['5/11 Language of its texts (ISO 639-1) [en]: ', 'de'],
        ['6/11 ', 'https://giving.example'],
        ['7/11 ', ''],
        ['9/11 ', ''],
        ['10/11 When to publish (cron, UTC) [0 2 * * *]: ', ''],
        ['11/11 May activities say this', 'yes'],
      ],
      ...['init', '--mail-from', 'Wells <wells@example.org>'],
    )
    expect(stdout).toContain('expected an identifier that begins with a registration agency of org-id.guide')
    expect([code, stdout]).toEqual([1, expect.stringContaining('next: put SMTP_URL into .env, then giving doctor')])
    expect(stdout).toMatch(/default-flow-type: Gifts of private people .* To change it: ASSUMED_CODES=flow-type=CODE/)
    expect(stdout).not.toContain('default-tied-status')
    expect(stdout).not.toMatch(/@xml:lang: /)
    expect(parseEnv(await folder.file())).toEqual({
      ...{ REPORTING_ORG_NAME: 'Wells for Tara', REPORTING_ORG_REF: 'GB-CHC-1164883' },
      ...{ REPORTING_ORG_TYPE: '60', DEFAULT_CURRENCY: 'USD', DEFAULT_LANGUAGE: 'de', FACTS_CONFIRMED: 'yes' },
      ...{ BASE_URL: 'https://giving.example', MAIL_FROM: 'Wells <wells@example.org>' },
      DONOR_KEYS: expect.any(String),
    })
  })

  it.skipIf(!hasPython)(
    '--from-upstream asks for the key, hides it, and says what a first sync will cost',
    async () => {
      const records = Array.from({ length: 30 }, (_, index) => ({ id: index + 1 }))
      await using upstream = Object.assign(await startUpstream({ records }), {
        [Symbol.asyncDispose]: () => upstream.close(),
      })
      const options = ['--name', 'Wells', '--ref', 'GB-CHC-1164883', '--publisher-type', '60', '--currency', 'EUR']
      const more = [
        '--language',
        'de',
        '--base-url',
        'https://giving.example',
        '--gateway',
        'sandbox',
        '--mail-from',
        '',
      ]
      const told = [...options, ...more, '--schedule', '0 4 * * *', '--confirm-facts', '--from-upstream', upstream.url]
      const folder = await newFolder()
      const { code, stdout } = await folder.atTerminal(
        [['1/1 Your API key there (it is not shown)', apiKey]],
        'init',
        ...told,
      )
      expect(stdout).toContain(
        `${upstream.url} takes the key: 30 projects; a first sync takes at most 66 requests, 14 s at UPSTREAM_RATE=5`,
      )
      expect(stdout).not.toContain(apiKey)
      expect([code, stdout]).toEqual([0, expect.stringContaining('next: giving start')])
      expect(parseEnv(await folder.file())).toMatchObject({ UPSTREAM_URL: upstream.url, UPSTREAM_API_KEY: apiKey })
      const other = await newFolder({ UPSTREAM_API_KEY: 'another-key' })
      const refused = await other.init(...told)
      expect([refused.code, refused.stdout]).toEqual([
        1,
        expect.stringMatching(/FIX +upstream: .*401.*correct UPSTREAM_API_KEY/),
      ])
      expect(await other.file()).toContain('# UPSTREAM_API_KEY=')
    },
  )

  it.skipIf(!hasPython)('leaves no file when the person leaves', async () => {
    const folder = await newFolder()
    const { code, stdout } = await folder.atTerminal(
      [
        ['1/12 ', 'Wells for Tara'],
        ['2/12 ', '\u0003'],
      ],
      'init',
    )
    expect([code, stdout]).toEqual([2, expect.stringContaining('nothing was written')])
    expect(await readdir(folder.cwd)).toEqual([])
  })
})

describe('.env of the current folder', () => {
  it('is read by every command, and never goes before the environment', async () => {
    const folder = await newFolder({ DEFAULT_CURRENCY: 'EUR' })
    await writeFile(folder.env, "DEFAULT_CURRENCY=nonsense\nPUBLISH_SCHEDULE='every day'\n")
    const { code, stdout } = await folder.run('doctor')
    expect([code, stdout]).toEqual([1, expect.stringContaining('PUBLISH_SCHEDULE: expected a cron expression')])
    expect(stdout).not.toContain('DEFAULT_CURRENCY')
  })

  it('is none where this account may not enter the folder, such as the home of who called runuser', async () => {
    const [folder, before, user] = [await temporaryFolder(), process.cwd(), process.geteuid?.()]
    process.chdir(folder)
    await chmod(folder, 0o000)
    try {
      // Root may enter everything.
      if (user === 0) process.seteuid?.(65534)
      expect(processEnvironment()).toEqual({ ...process.env })
    } finally {
      if (user === 0) process.seteuid?.(0)
      await chmod(folder, 0o700)
      process.chdir(before)
    }
  })

  it('ends every command, with the reason, where it cannot be read', async () => {
    const folder = await newFolder()
    await symlink('.env', folder.env)
    const reason = /^giving: \.env cannot be read: ELOOP: .*\n$/
    for (const command of ['status', 'publish', 'start']) {
      expect(await folder.run(command)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(reason) })
    }
  })
})
