import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { copyFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { committedDescription, descriptionFile, operationsOf } from '../../support/api/api-description.js'
import { type Ended, type Installation, newInstallation, type RunningService } from '../../support/commands/cli.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const printed = 'http://127.0.0.1:8080'

/** The commands of the README's five minutes: its second block of shell, line by line, comments left out. */
function quickStart(): string[] {
  const [, section = ''] = readProjectFile('README.md').split('\n## Five minutes\n')
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? []
  return block.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
}

/** The blocks of shell of a document. */
function shellBlocks(document: string): string[] {
  return [...readProjectFile(document).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
}

const tutorial = 'docs/tutorial/call-the-api.md'
const donatePage = 'docs/tutorial/donate.md'
const apiPages = [tutorial, 'docs/how-to/follow-changes.md']
const isPosting = (block: string) => /^post /m.test(block)

const hasPython = spawnSync('python3', ['--version']).error === undefined
const hasCurl = spawnSync('curl', ['--version']).error === undefined

// In the order of the pages: a reader's accounts and gifts go on from one to the next.
describe('the quick start of the README', { shuffle: false }, () => {
  let installation: Installation
  let service: RunningService
  let dir: string

  beforeAll(async () => {
    if (!hasCurl) return
    installation = await newInstallation()
    service = await installation.start()
    dir = await temporaryFolder()
    await copyFile(path.resolve('test/fixtures/projects-odd.xml'), path.join(dir, 'projects.xml'))
    const activities = await fetch(`${service.baseUrl}/iati/activities.xml`)
    await writeFile(path.join(dir, 'some-activities.xml'), await activities.text())
  }, 120_000)

  afterAll(async () => {
    if (!hasCurl) return
    await installation.remove()
  }, 60_000)

  /** Runs a line as a person would type it; `giving` itself is the program under test, in its own installation. */
  async function type(line: string): Promise<Ended> {
    const here = line.replaceAll(printed, service.baseUrl)
    const [, typed = '', rest] = /^(?:echo '([^']*)' \| )?npm run (?:--silent )?giving -- (.*)$/.exec(here) ?? []
    if (rest === undefined) {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', here], { cwd: dir, encoding: 'utf8' })
      return { code: status, stdout, stderr }
    }
    const args = rest.split(' ').map((word) => (/^[\w-]+\.xml$/.test(word) ? path.join(dir, word) : word))
    return await installation.runHere(args, typed === '' ? '' : `${typed}\n`)
  }

  /** A key and a token of an account that may donate. */
  async function donor(): Promise<{ key: string; token: string }> {
    const user = { email: `donor-${randomUUID()}@example.org`, password: 'eight loud mountains' }
    const create = ['users', 'create', '--email', user.email, '--password-stdin', '--json']
    const { apiKey: key } = JSON.parse((await installation.runHere(create, `${user.password}\n`)).stdout) as {
      apiKey: string
    }
    await installation.runHere(['users', 'grant', '--email', user.email, 'donations'])
    const answer = await fetch(`${service.baseUrl}/api/userservice/tokens.json`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth_request: { user, api_key: key } }),
    })
    const { auth_response } = (await answer.json()) as { auth_response: { access_token: string } }
    return { key, token: auth_response.access_token }
  }

  it('does what it says, with curl, as printed', { timeout: 180_000 }, async (context) => {
    if (!hasCurl) return context.skip('curl is not installed')
    const said = new Map<string, string>()
    let key = ''
    for (const line of quickStart()) {
      const { code, stdout, stderr } = await type(line.replaceAll('THE_KEY', key))
      // The fixture has one record that is refused, and `status` tells of what needs a person.
      const fine = /giving -- (import|status)/.test(line) ? [0, 1] : [0]
      expect(fine, `${line}\n${stdout.slice(0, 500)}\n${stderr.slice(0, 500)}`).toContain(code)
      if (stdout.startsWith('{"apiKey"')) key = (JSON.parse(stdout) as { apiKey: string }).apiKey
      said.set(line, stdout)
    }
    const of = (part: string) => [...said].find(([line]) => line.includes(part))?.[1] ?? ''
    expect(of('/iati/activities.xml')).toMatch(/^<\?xml [\s\S]*<iati-activities/)
    expect(JSON.parse(of('/feeds/manifest.json'))).toMatchObject({ totals: { activities: 120 } })
    expect(key).toMatch(/^[0-9a-f-]{36}$/)
    expect(of('/all/projects')).toMatch(/^<\?xml [\s\S]*<projects numberFound="120">/)
    expect(of('publish --wait')).not.toBe('')
    expect(of('validate')).not.toBe('')
  })

  it(`continues in ${tutorial}: an account, a key, a token and their end`, { timeout: 60_000 }, async (context) => {
    if (!hasCurl) return context.skip('curl is not installed')
    const lines = shellBlocks(tutorial).filter(isPosting).join('').split('\n').filter(Boolean)
    expect(lines).toHaveLength(8)
    const preamble = lines.filter((line) => !line.startsWith('post '))
    let known = { THE_KEY: 'THE_KEY', THE_TOKEN: 'THE_TOKEN' }
    for (const line of lines.filter((line) => line.startsWith('post '))) {
      const [command = '', answer] = line.split(/ +# /)
      const filled = command.replaceAll('THE_KEY', known.THE_KEY).replaceAll('THE_TOKEN', known.THE_TOKEN)
      const { stdout } = await type([...preamble, filled].join('\n'))
      const [, key] = /"api_key":"([^"]+)"/.exec(stdout) ?? []
      const [, token] = /"access_token":"([^"]+)"/.exec(stdout) ?? []
      known = { THE_KEY: key ?? known.THE_KEY, THE_TOKEN: token ?? known.THE_TOKEN }
      const shown = stdout.replace(known.THE_KEY, 'THE_KEY').replace(known.THE_TOKEN, 'THE_TOKEN')
      expect(shown, line).toBe(answer ?? '{"revocation_response":{"revoked":true}}')
    }
  })

  it(`continues in ${donatePage}, in four languages: the gift has a receipt and is published`, {
    timeout: 180_000,
  }, async (context) => {
    if (!hasCurl) return context.skip('curl is not installed')
    const [account = '', signIn = '', byCurl = '', ending = ''] = shellBlocks(donatePage)
    const [create = '', grant = ''] = account.trim().split('\n')
    const { apiKey: key } = JSON.parse((await type(create)).stdout) as { apiKey: string }
    const [token = ''] = signIn.split('\n')
    const { stdout } = await type(token.replace('THE_KEY', key))
    const [, apiToken = ''] = /"access_token":"(\w+)"/.exec(stdout) ?? []
    const secrets = { GIVING_KEY: key, GIVING_TOKEN: apiToken }
    const exported = Object.entries(secrets).map(([name, value]) => `export ${name}=${value}`)
    const donate = async () => (await type([...exported, byCurl.trim()].join('\n'))).stdout
    expect(await donate()).toContain(`(${donatePage})`)
    expect((await type(grant)).code).toBe(0)
    const [, receipt = ''] = /"receiptNumber":"(R[^"]+)"/.exec(await donate()) ?? []
    expect(receipt).not.toBe('')
    const receipts = [receipt]
    const programs = {
      ts: [process.execPath, 'donate.mjs'],
      python: ['python3', 'donate.py'],
      php: ['php', 'donate.php'],
    }
    for (const [language, [program = '', file = '']] of Object.entries(programs)) {
      const [, source = ''] =
        new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readProjectFile(donatePage)) ?? []
      const text = source.replaceAll(printed, service.baseUrl)
      const { module, target } = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
      const code = language === 'ts' ? ts.transpile(text, { module, target }) : text
      await writeFile(path.join(dir, file), code)
      const ended = spawnSync(program, [file], { cwd: dir, encoding: 'utf8', env: { ...process.env, ...secrets } })
      if (ended.error) {
        console.log(`${program} is not installed: its example was not run`)
        continue
      }
      expect([ended.status, ended.stderr]).toEqual([0, ''])
      receipts.push(ended.stdout.trim())
    }
    expect(new Set(receipts).size).toBe(receipts.length)
    const [list = '', publish = '', activity = ''] = ending.trim().split('\n')
    const { stdout: donations } = await type(list)
    for (const one of receipts) expect(donations).toContain(one)
    expect((await type(publish)).code).toBe(0)
    expect((await type(activity)).stdout).toContain('XE-EXAMPLE-INVENTED-9000001')
  })

  it('does what every other example of the pages about the API says', { timeout: 60_000 }, async (context) => {
    if (!hasCurl) return context.skip('curl is not installed')
    const { key, token } = await donor()
    const answers = [
      /^\{"search":\{"request":\{.*"q":"water",.*"project":\[\{/,
      /<key_response><api_key>[0-9a-f-]{36}<\/api_key><\/key_response>$/,
      /^me@example\.org: donations granted\n$/,
      /^\{"donation":\{"amount":40\.00,.*"receiptNumber":"R0-GC0-TEST"/,
      /^x-modified-until: \d{4}-/i,
      /^304\n$/,
    ]
    const examples = apiPages.flatMap(shellBlocks).filter((block) => !isPosting(block))
    const said: string[] = []
    for (const example of examples) {
      const { code, stdout, stderr } = await type(
        example.trim().replaceAll('THE_KEY', key).replaceAll('THE_TOKEN', token),
      )
      expect(code, `${example}\n${stdout}\n${stderr}`).toBe(0)
      said.push(stdout)
    }
    expect(said).toEqual(answers.map((answer) => expect.stringMatching(answer)))
  })

  it('answers a client in Python as openapi.json says', { timeout: 120_000 }, async (context) => {
    if (!hasCurl) return context.skip('curl is not installed')
    if (!hasPython) return context.skip('python3 is not installed')
    const { key, token } = await donor()
    const client = [path.resolve('test/clients/read-all.py'), path.resolve(descriptionFile)]
    const { status, stdout, stderr } = await new Promise<{ status: unknown; stdout: string; stderr: string }>(
      (resolve) =>
        execFile('python3', [...client, service.baseUrl, key, token], (error, stdout, stderr) =>
          resolve({ status: error?.code ?? 0, stdout, stderr }),
        ),
    )
    expect(status, `${stdout}\n${stderr}`).toBe(0)
    const lines = stdout.trim().split('\n')
    const reads = operationsOf(committedDescription()).filter(({ method }) => method === 'GET')
    expect(new Set(lines.map((line) => line.split(' ')[0]))).toEqual(
      new Set(reads.map(({ operation }) => operation.operationId)),
    )
    const others = lines.filter((line) => line.split(' ')[1] !== '200')
    // The demo is too small for a second file and signs nothing; metrics are on the port of the console.
    expect(others.map((line) => line.split(' ', 2).join(' '))).toEqual([
      'getIatiFile 404',
      'getChecked 404',
      'getPublicKey 404',
      'getMetrics 404',
    ])
  })

  it('is all of what the README prints: a line that this test cannot run is a line that nobody can', () => {
    const lines = quickStart()
    expect(lines.length).toBeGreaterThanOrEqual(8)
    for (const line of lines) expect(line).toMatch(/^(curl|npm run|echo ')/)
  })
})
