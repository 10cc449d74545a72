import { spawn, spawnSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { expect, onTestFinished, test } from 'vitest'
import { CommandLine } from '../../src/cli/command-line.js'
import { registrationsFor } from '../../src/cli/registrations.js'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore } from '../../src/platform/database/store.js'
import { transpileProgram } from '../support/commands/cli.js'
import { freePort } from '../support/servers/free-port.js'
import { selfSigned } from '../support/servers/self-signed.js'
import { emptyDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { listening } from './support/listening.js'
import { record } from './support/record.js'

// The largest time that a person waits at a terminal; commands that are asked to stop have as much.
const mostMs = 15_000
const asked = ['start', 'api', 'worker']

/** Arguments and options that a command needs, by their names. */
const needed: Readonly<Record<string, string>> = {
  id: '1',
  number: '1',
  kept: '1',
  gone: '2',
  year: '2025',
  from: '20260101T000000Z-1',
  to: '20260102T000000Z-2',
  name: 'publish',
  reference: 'a',
  shell: 'bash',
  email: 'a@example.org',
  '--minutes': '1',
  '--project': '1',
  '--projects': '3',
  '--from': 'US-EIN-123456789',
  '--to': 'US-EIN-987654321',
  '--kind': 'projects',
  '--schedule': '0 2 * * *',
  '--state': 'retired',
  '--vetted': 'yes',
  theme: 'Water',
  code: '14030',
  operation: 'donations',
  '--token-timeout': '10h',
  '--since': '2026-11-01',
  '--email': 'a@example.org',
  '--recipe': 'stripe',
  day: '2026-11-01',
  duration: '1d',
  currency: 'CHF',
  rate: '1.12',
  donation: '1',
  state: 'works',
  status: 'open',
}

/** Of commands that ask for one of several. */
const also: Readonly<Record<string, readonly string[]>> = {
  'keys revoke': ['--id', '1'],
  import: ['records.xml'],
  'gifts correct': ['--amount', '1'],
  'disbursements correct': ['--amount', '1'],
  'reports correct': ['--title', 'A title'],
}

type Case = { readonly args: readonly string[]; readonly leaf: string }

/** Every command of the program, with what it needs. */
async function everyCommand(values: Readonly<Record<string, string>>): Promise<Case[]> {
  const program = new Command('giving')
  const nowhere = { stdout: new PassThrough(), stderr: new PassThrough(), stdin: Readable.from([]) }
  const commandLine = new CommandLine({ ...nowhere, environment: {}, signal: new AbortController().signal })
  for (const register of await registrationsFor(undefined)) register(program, commandLine)
  const missing: string[] = []
  const leaves = (command: Command, above: readonly string[]): Case[] => {
    const path = [...above, command.name()]
    const own = command as unknown as { _actionHandler: unknown }
    const inner = command.commands.filter((one) => one.name() !== 'help').flatMap((one) => leaves(one, path))
    if (own._actionHandler === null) return inner
    const names = [
      ...command.registeredArguments.filter(({ required }) => required).map((one) => one.name()),
      ...command.options.filter(({ mandatory }) => mandatory).map((one) => one.long ?? ''),
    ]
    const flags = command.options.filter(({ required }) => !required).map(({ long }) => long)
    const unknown = names.filter((name) => values[name] === undefined && !flags.includes(name))
    for (const name of unknown) missing.push(`giving ${path.join(' ')}: ${name}`)
    const args = names.flatMap((name) => {
      if (flags.includes(name)) return [name]
      return name.startsWith('--') ? [name, values[name] ?? ''] : [values[name] ?? '']
    })
    const leaf = path.join(' ')
    return [{ args: [...path, ...args, ...(also[leaf] ?? [])], leaf }, ...inner]
  }
  const cases = program.commands.flatMap((command) => leaves(command, []))
  if (missing.length > 0) throw new Error(`no value for ${missing.join('; ')}`)
  return cases
}

/** A server that takes connections and never says anything. */
async function startSilent(): Promise<number> {
  const open = new Set<net.Socket>()
  const server = net.createServer((socket) => void open.add(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return (server.address() as net.AddressInfo).port
}

test('every command ends, whichever part is broken', { timeout: 3_600_000 }, async () => {
  const dir = await temporaryFolder()
  const [silent, closed, { url: database }] = [await startSilent(), await freePort(), await emptyDatabase()]
  const store = openStore({ url: database, max: 1, applicationName: 'campaign' })
  await migrate(store)
  await store.close()
  const [file, ca] = ['records.xml', 'ca.pem'].map((name) => path.join(dir, name))
  await writeFile(file ?? '', '<projects></projects>')
  await writeFile(ca ?? '', selfSigned.cert)
  await mkdir(path.join(dir, 'export'))
  const values = {
    ...needed,
    file: file ?? '',
    '--file': path.join(dir, 'key'),
    dir: path.join(dir, 'new'),
    url: `http://127.0.0.1:${silent}`,
  }
  const cases = await everyCommand(values)
  const base = { REPORTING_ORG_REF: 'US-EIN-123456789', BASE_URL: 'https://giving.example', DATABASE_URL: database }
  const away = `http://127.0.0.1:${silent}`
  const parts: Record<string, Record<string, string>> = {
    'nobody at the address of the database': { DATABASE_URL: `postgres://giving@127.0.0.1:${closed}/giving` },
    'a database that never answers': { DATABASE_URL: `postgres://giving@127.0.0.1:${silent}/giving` },
    'nobody at the address of Redis': { REDIS_URL: `redis://127.0.0.1:${closed}` },
    'a Redis that never answers': { REDIS_URL: `redis://127.0.0.1:${silent}` },
    'sentinels that never answer': { REDIS_URL: `redis+sentinel://127.0.0.1:${silent},127.0.0.1:${closed}/one` },
    'a cluster of Redis that never answers': { REDIS_URL: `redis+cluster://127.0.0.1:${silent},127.0.0.1:${closed}` },
    'a folder that cannot be made': { GIVING_DATA_DIR: path.join(file ?? '', 'data') },
    'others that never answer': {
      UPSTREAM_URL: away,
      UPSTREAM_API_KEY: 'key',
      REGISTRY_URL: `${away}/api/v1`,
      REGISTRY_TOKEN: 'token',
      LICENCE_ID: 'cc-by',
      FEEDS_S3_BUCKET: 'feeds',
      FEEDS_S3_ENDPOINT: away,
      FEEDS_S3_ACCESS_KEY_ID: 'key',
      FEEDS_S3_SECRET_ACCESS_KEY: 'secret',
      SMTP_URL: `smtp://127.0.0.1:${silent}`,
      MAIL_FROM: 'giving@example.org',
      ALERT_MAIL_TO: 'ops@example.org',
      WEBSUB_HUB: away,
      PAYMENT_GATEWAY: 'stripe',
      // A day is read in two calls.
      PAYMENT_TIMEOUT_SECONDS: '5',
      STRIPE_SECRET_KEY: 'sk_test_key',
      STRIPE_PUBLISHABLE_KEY: 'pk_test_key',
      PAYMENT_GATEWAY_URL: `https://127.0.0.1:${silent}`,
    },
  }
  const { FEEDS_S3_BUCKET = '', FEEDS_S3_ENDPOINT = '' } = parts['others that never answer'] ?? {}
  const keys = { FEEDS_S3_ACCESS_KEY_ID: 'key', FEEDS_S3_SECRET_ACCESS_KEY: 'secret' }
  parts['a bucket that never answers in place of the folder'] = {
    ...{ FEEDS_S3_BUCKET, FEEDS_S3_ENDPOINT, ...keys, FEEDS_S3_IS_FOLDER: 'on' },
  }
  const missing = spawnSync('redis-sentinel', ['--version']).error
  if (missing) console.warn('A sentinel in place of Redis is skipped: redis-sentinel is not on the PATH.')
  else parts['a sentinel in place of Redis'] = { REDIS_URL: `redis://127.0.0.1:${await startSentinel(dir)}` }

  const program = await transpileProgram()
  const late: string[] = []
  const refused: string[] = []
  let run = 0
  const runs = Object.entries(parts).flatMap(([part, broken]) => cases.map((one) => ({ part, broken, ...one })))
  const only = process.env.BROKEN_COMMANDS?.split(',')
  const chosen = runs.filter(({ leaf }) => only?.includes(leaf) ?? true)
  const next = async () => {
    for (let one = chosen.shift(); one; one = chosen.shift()) {
      const { part, broken, args, leaf } = one
      const folder = path.join(dir, `${run++}`)
      await mkdir(folder)
      await writeFile(path.join(folder, 'records.xml'), '<projects></projects>')
      const { PATH = '', HOME = '' } = process.env
      const environment = {
        PORT: '0',
        OPS_PORT: '0',
        WORKER_PROCESSES: '1',
        GIVING_DATA_DIR: folder,
        ...base,
        ...broken,
      }
      const child = spawn(process.execPath, [path.join(program, 'src/cli.js'), ...args], {
        cwd: folder,
        env: { PATH, HOME, ...environment },
        stdio: ['pipe', 'pipe', 'pipe'],
      })
      child.stdin.on('error', () => undefined).end('seven quiet rivers run')
      const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
      const said = Promise.all([text(child.stdout), text(child.stderr)])
      if (asked.includes(leaf)) {
        await Promise.race([ended, sleep(4_000)])
        child.kill('SIGTERM')
      }
      const guard = setTimeout(() => child.kill('SIGKILL'), mostMs)
      await ended
      clearTimeout(guard)
      const [, stderr] = await said
      if (child.signalCode === 'SIGKILL') late.push(`${leaf}: ${part}: ${stderr.slice(-300)}`)
      if (/^error: /m.test(stderr)) refused.push(`${leaf}: ${stderr.slice(0, 200)}`)
    }
  }
  const tried = chosen.length
  await Promise.all(Array.from({ length: availableParallelism() }, next))
  expect({ refused, late }).toEqual({ refused: [], late: [] })
  expect((await readdir(dir)).length).toBeGreaterThan(tried)
  record({
    name: `cluster: each of ${cases.length} commands with each of ${Object.keys(parts).length} broken parts`,
    engine: 'both',
    tried,
    outcome: `each ends within ${mostMs / 1000} s`,
  })
})

async function startSentinel(dir: string): Promise<number> {
  const port = await freePort()
  const file = path.join(dir, 'sentinel.conf')
  await writeFile(file, `port ${port}\nbind 127.0.0.1\ndir ${dir}\n`)
  const child = spawn('redis-sentinel', [file], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await listening(port, () => child.exitCode === null)
  return port
}
