import { execFile, spawn, spawnSync } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { newInstallation } from '../support/commands/cli.js'
import { browserProgram, launchBrowser } from '../support/portal/browser.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { record } from './support/record.js'

const run = promisify(execFile)

test('the package of npm pack, installed into an empty folder, starts with npx, publishes, and has the client', async (context) => {
  if (spawnSync('npm', ['ping']).status !== 0) return context.skip('the npm registry cannot be reached')
  const folder = await temporaryFolder()
  // Builds first: the script `prepare`.
  await run('npm', ['pack', '--pack-destination', folder], { cwd: path.resolve(import.meta.dirname, '../..') })
  const [tarball = ''] = await readdir(folder)
  expect(tarball).toMatch(/^giving-iati-.*\.tgz$/)
  await run('npm', ['install', '--prefix', folder, path.join(folder, tarball)], { cwd: folder })

  const { PATH, HOME } = process.env
  // The shortest way to see what this is: no store, no set-up, another folder's file.
  const csv = 'Campaign;Amount;Currency;Donated At;Donation Id\nWells;1.250,00;USD;05.03.2025;D-1\n'
  await writeFile(path.join(folder, 'donations.csv'), csv)
  const tried = await run('npx', ['giving-iati', 'try', 'donations.csv', '--out', 'trial.xml'], {
    cwd: folder,
    env: { PATH, HOME },
  })
  expect(tried.stdout).toContain('project Wells; date 2025-03-05; amount 1250.00; currency USD; reference D-1')
  expect(tried.stdout).toContain('trial.xml: 1 activities')
  const stripe = { PAYMENT_GATEWAY: 'stripe', STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_PUBLISHABLE_KEY: 'pk_test_1' }
  const withStripe = async () => {
    const env = { PATH, HOME, ...stripe, DATABASE_URL: 'postgres://127.0.0.1:9/none' }
    const asked = run('npx', ['giving-iati', 'status'], { cwd: folder, env })
    const { stdout, stderr } = await asked.catch((error: { stdout: string; stderr: string }) => error)
    return stdout + stderr
  }
  const [, command = ''] = /expected the installed package stripe \((.+)\), got/.exec(await withStripe()) ?? []
  expect(command).toMatch(/^npm install stripe@[\d.]+$/)
  await run('sh', ['-c', command], { cwd: folder })
  expect(await withStripe()).toContain('unreachable (given)')
  const dataDir = path.join(folder, 'data')
  const service = spawn('npx', ['giving-iati', 'start'], {
    cwd: folder,
    detached: true,
    env: { PATH, HOME, PORT: '0', GIVING_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => service.once('exit', resolve))
  let output = ''
  for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  onTestFinished(() => {
    if (service.exitCode === null && service.signalCode === null && service.pid) process.kill(-service.pid, 'SIGKILL')
  })
  await expect.poll(() => output, { timeout: 300_000 }).toMatch(/"ready: /)
  const [, baseUrl = ''] = /"ready: (http:[^"]+)\/"/.exec(output) ?? []
  const activities = await (await fetch(`${baseUrl}/iati/activities.xml`)).text()
  expect(activities.split('<iati-activity ').length - 1).toBe(120)
  const asked = `import { createClient } from 'giving-iati/client'
    console.log((await createClient({ url: '${baseUrl}' }).get('/feeds/manifest.json')).totals.activities)`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', asked], { cwd: folder })
  expect(stdout).toBe('120\n')
  // To the whole group, as a terminal does.
  process.kill(-(service.pid ?? 0), 'SIGINT')
  await ended
  const clusters = /data in (\/var\/lib\/giving\/\w+)/.exec(output)?.[1]
  if (clusters) await rm(clusters, { recursive: true, force: true })
  record({
    name: 'npm pack, npm install into an empty folder, npx giving-iati start',
    engine: 'PostgreSQL',
    tried: 1,
    outcome: '120 activities published',
  })
})

test('the package of the client reads every record and donates, from Node.js and from a page in a browser', async () => {
  const folder = await temporaryFolder()
  // `npm run test:campaign` has built it.
  const built = path.resolve(import.meta.dirname, '../../dist/src/client')
  await run('npm', ['pack', '--pack-destination', folder, built], { cwd: folder })
  const [tarball = ''] = await readdir(folder)
  expect(tarball).toMatch(/^giving-client-.*\.tgz$/)
  await run('npm', ['install', '--prefix', folder, path.join(folder, tarball)], { cwd: folder })
  const modules = (await readdir(path.join(folder, 'node_modules'))).filter((name) => !name.startsWith('.'))
  expect(modules).toEqual(['giving-client'])
  const code = await readFile(path.join(folder, 'node_modules/giving-client/client.js'))
  const bytes = gzipSync(code).length
  expect(bytes).toBeLessThan(10_000)

  const installation = await newInstallation()
  onTestFinished(() => installation.remove())
  const { baseUrl } = await installation.start()
  const user = { email: 'me@example.org', password: 'seven quiet rivers run' }
  const create = ['users', 'create', '--email', user.email, '--password-stdin', '--json']
  const { apiKey } = JSON.parse((await installation.run(create, `${user.password}\n`)).stdout) as { apiKey: string }
  await installation.run(['users', 'grant', '--email', user.email, 'donations'])
  const programOf = (transactionId: string) => `
    const client = createClient({ url: '${baseUrl}', apiKey: '${apiKey}', user: ${JSON.stringify(user)} })
    let read = 0
    for await (const { id } of client.records('/api/public/projectservice/all/projects', { query: { limit: 50 } })) read += id > 0
    const donation = { refcode: 'spring', transactionId: '${transactionId}', email: 'lina@example.org', amount: 25, project: { id: 9000001 },
      payment_detail: { firstname: 'Lina', lastname: 'Okoro', paymentGateway: 'braintree', paymentGatewayKey: 'sandbox_demo_key',
        paymentGatewayNonce: 'fake-valid-nonce' } }
    const answer = await client.post('/api/secure/givingservice/donationsclient', { body: { donation } })
    const refused = await client.post('/api/secure/givingservice/donationsclient', { body: { donation: { ...donation, amount: -1, transactionId: 'x' } } })
      .catch((error) => (error instanceof AnswerError ? error.status : String(error)))
    const said = [read, answer.donation.chargedAmount, refused]`
  const expected = [120, 25, 400]
  const inNode = `import { AnswerError, createClient } from 'giving-client'
    ${programOf('tx-node')}
    console.log(JSON.stringify(said))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', inNode], { cwd: folder })
  expect(JSON.parse(stdout)).toEqual(expected)
  if (browserProgram === undefined) console.log('no browser is installed: the client was not tried in one')
  else {
    await using browser = await launchBrowser()
    // A page of another origin, as that of a partner.
    const page = await (await browser.newContext()).newPage()
    const site = createServer(({ url }, response) => {
      const isCode = url === '/client.js'
      response.writeHead(200, { 'content-type': isCode ? 'text/javascript' : 'text/html' })
      response.end(isCode ? code : '<!doctype html><title>A partner</title>')
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void site.close())
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    const inPage = `(async () => {
      const { AnswerError, createClient } = await import('/client.js')
      ${programOf('tx-page')}
      return said
    })()`
    expect(await page.evaluate(inPage)).toEqual(expected)
  }
  const outcome = `120 records and a donation; ${bytes} bytes of code with gzip`
  record({ name: 'the package of the client, in Node.js and Chromium', engine: 'PostgreSQL', tried: 1, outcome })
})

test('each step of a release that needs no network runs, and npm would publish both packages without a warning', async () => {
  const root = path.resolve(import.meta.dirname, '../..')
  const folder = await temporaryFolder()
  const { stdout: listed } = await run('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 2 ** 24 })
  for (const file of listed.split('\0').filter((name) => name !== '')) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await copyFile(path.join(root, file), path.join(folder, file))
  }
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  const { jobs } = parse(await readFile(path.join(folder, '.github/workflows/release.yml'), 'utf8')) as {
    jobs: { packages: { steps: { name?: string; run?: string }[] } }
  }
  const local = jobs.packages.steps.filter(({ name = '' }) => name.startsWith('local: '))
  expect(local).toHaveLength(5)
  const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as { version: string }
  const env = { ...process.env, GITHUB_REF_NAME: `v${version}` }
  for (const { run: script = '' } of local) {
    await run('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: folder, env, maxBuffer: 2 ** 26 })
  }
  const wrongTag = { cwd: folder, env: { ...env, GITHUB_REF_NAME: 'v0.0.1' } }
  await expect(run('bash', ['-e', '-c', local[0]?.run ?? ''], wrongTag)).rejects.toThrow()
  const made = (await readdir(path.join(folder, 'release'))).sort()
  expect(made).toEqual([
    `giving-client-${version}.tgz`,
    `giving-iati-${version}.tgz`,
    'giving-iati.sbom.json',
    'notes.md',
  ])
  expect(await readdir(path.join(folder, 'docs/.vitepress/dist'))).toContain('index.html')

  const sizes: string[] = []
  for (const name of made.filter((file) => file.endsWith('.tgz'))) {
    const ask = ['publish', '--dry-run', '--tag', 'next', '--json', path.join(folder, 'release', name)]
    const { stdout, stderr } = await run('npm', ask, { cwd: folder, maxBuffer: 2 ** 26 })
    expect(stderr.split('\n').filter((line) => /warn (?!Unknown|publish This command requires)/.test(line))).toEqual([])
    const said = JSON.parse(stdout) as object
    // npm 11 says it under the name of the package.
    const { size, files } = ('size' in said ? said : Object.values(said)[0]) as {
      size: number
      files: { path: string }[]
    }
    const others =
      /^(dist\/|deploy\/|client\.js$|[\w./-]+\.d\.ts$|LICENSE$|NOTICE$|README\.md$|openapi\.json$|package\.json$)/
    expect(files.map((file) => file.path).filter((file) => !others.test(file))).toEqual([])
    expect(size).toBeLessThan(2_500_000)
    sizes.push(`${name} ${Math.round(size / 1000)} kB in ${files.length} files`)
  }
  record({ name: 'the steps of a release without network', engine: '-', tried: 5, outcome: sizes.join(', ') })
})
