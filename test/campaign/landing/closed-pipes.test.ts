import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { transpileProgram } from '../../support/commands/cli.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

describe('a command whose reader goes away', async () => {
  const { store, url } = await testDatabase()
  let program: string
  let dir: string
  const file = (name: string) => path.join(dir, name)

  beforeAll(async () => {
    program = await transpileProgram()
    dir = await temporaryFolder()
    await writeFile(file('bad.xml'), '<iati-activities version="2.03"><iati-activity/></iati-activities>')
    await store.db.query("insert into theme (id, name) values ('water', 'Water')")
    await store.db.query(
      "insert into project (id, active, status, title) select n, true, 'active', 'Project ' || n from generate_series(1, 2000) n",
    )
    const refused = '<project><id>0</id></project>'
    await writeFile(file('projects.xml'), `<projects>${refused.repeat(2000)}</projects>`)
  }, 60_000)

  /** Starts a command of which nobody reads the standard output, or neither output. */
  function start(args: readonly string[], unread: 'stdout' | 'both') {
    const { PATH = '', HOME = '' } = process.env
    const child = spawn(process.execPath, [path.join(program, 'src/cli.js'), ...args], {
      env: {
        PATH,
        HOME,
        DATABASE_URL: url,
        GIVING_DATA_DIR: dir,
        REPORTING_ORG_REF: 'US-EIN-123456789',
        PORT: '0',
        FACTS_CONFIRMED: 'yes',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stderr = ''
    child.stdout.destroy()
    if (unread === 'both') child.stderr.destroy()
    else child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { child, ended, stderr: () => stderr }
  }

  const many = Array.from({ length: 500 }, () => 'bad.xml')
  it.each<[string, readonly string[], number]>([
    ['the help', ['--help'], 0],
    ['themes list', ['themes', 'list'], 0],
    ['projects list, as JSON', ['projects', 'list', '--json'], 0],
    ['status', ['status'], 1],
    ['validate of many files', ['validate', ...many], 1],
    ['import with many problems, as JSON', ['import', 'projects.xml', '--json'], 2],
  ])('does its work, says nothing of it and ends with its own exit code: %s', async (_, args, code) => {
    const given = args.map((arg) => (arg.endsWith('.xml') ? file(arg) : arg))
    const one = start(given, 'stdout')
    // What is wrong is told on the other output.
    const other = code === 0 ? one : start(given, 'both')
    expect(await one.ended).toBe(code)
    expect(one.stderr()).not.toMatch(/EPIPE|^ +at /m)
    expect(await other.ended).toBe(code)
  })

  it('goes on serving when it is a service', async () => {
    const { child, ended, stderr } = start(['api'], 'stdout')
    await expect.poll(stderr, { timeout: 30_000 }).toContain('listening on ')
    const [, address = ''] = /listening on (http:[^\s"]+)/.exec(stderr()) ?? []
    expect((await fetch(`${address}/healthz`)).status).toBe(200)
    child.stderr.destroy()
    // The access log goes nowhere now.
    for (let n = 0; n < 5; n++) expect((await fetch(`${address}/healthz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})
