import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { transpileProgram } from '../../support/commands/cli.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const project = path.resolve(import.meta.dirname, '../../..')
const { url } = await testDatabase()
const root = await temporaryFolder()
const { peerDependencies } = JSON.parse(await readFile(path.join(project, 'package.json'), 'utf8')) as {
  peerDependencies: Readonly<Record<string, string>>
}
const named = (name: string) => `${name}@${peerDependencies[name]}`

const stripe = { PAYMENT_GATEWAY: 'stripe', STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_PUBLISHABLE_KEY: 'pk_test_1' }
const braintree = {
  ...{ PAYMENT_GATEWAY: 'braintree', BRAINTREE_MERCHANT_ID: 'm', BRAINTREE_PUBLIC_KEY: 'p' },
  ...{ BRAINTREE_PRIVATE_KEY: 'k', BRAINTREE_MERCHANT_ACCOUNTS: 'USD:m' },
}

/** Copies the program to a place, beside packages without those that only their users install. */
async function install(place: string, modules: string): Promise<void> {
  const program = await transpileProgram()
  for (const entry of ['src', 'jobs', 'package.json']) {
    await cp(path.join(program, entry), path.join(root, place, entry), { recursive: true })
  }
  await mkdir(path.join(root, modules), { recursive: true })
  for (const name of await readdir(path.join(project, 'node_modules'))) {
    if (!name.startsWith('.') && !['@aws-sdk', 'braintree', 'ssh2', 'stripe'].includes(name))
      await addPackage(modules, name)
  }
}

async function addPackage(modules: string, name: string): Promise<void> {
  await symlink(path.join(project, 'node_modules', name), path.join(root, modules, name))
}

/** Runs a command in that place to its end. */
async function giving(place: string, line: string, settings: Readonly<Record<string, string>>, ...more: string[]) {
  const env = {
    ...{ PATH: process.env.PATH, DATABASE_URL: url, GIVING_DATA_DIR: path.join(root, 'data'), LOG_LEVEL: 'silent' },
    ...{ PORT: '0', OPS_PORT: '0', REPORTING_ORG_REF: 'XE-EXAMPLE-GIVING', REPORTING_ORG_NAME: 'Giving', ...settings },
  }
  const command = [path.join(root, place, 'src/cli.js'), ...line.split(' '), ...more]
  return await new Promise<{ code: unknown; output: string; last: string | undefined }>((resolve) => {
    execFile('node', command, { env }, (error, stdout, stderr) => {
      const output = stdout + stderr
      resolve({ code: error?.code ?? 0, output, last: output.trimEnd().split('\n').at(-1) })
    })
  })
}

describe('a package that only its users install is missing', { shuffle: false }, () => {
  const wrong = (text: string) => ({ code: 2, last: `giving: the configuration is wrong: ${text}` })
  const inClone = 'npm install --no-save --save-prod --omit=dev'

  it('in a clone: every command that needs it says which variable asks for it and what installs it', async () => {
    await install('clone', 'clone/node_modules')
    const expected = `PAYMENT_GATEWAY: expected the installed package stripe (${inClone} ${named('stripe')}), got "stripe"`
    for (const line of ['start', 'api', 'worker', 'status', 'payments check']) {
      expect(await giving('clone', line, stripe), line).toMatchObject(wrong(expected))
    }
    const doctor = await giving('clone', 'doctor', stripe)
    expect(doctor.code).toBe(1)
    expect(doctor.output).toContain(`FIX   configuration:  ${expected} -> docs/reference/configuration.md`)

    const library = '@aws-sdk/client-s3'
    const command = `${inClone} ${named(library)}`
    for (const line of ['worker', 'publish --inline']) {
      expect(await giving('clone', line, { FEEDS_S3_BUCKET: 'feeds' }), line).toMatchObject(
        wrong(`FEEDS_S3_BUCKET: expected the installed package ${library} (${command}), got "feeds"`),
      )
    }
    const add = 'sources add gifts --kind gifts --from s3://drop/gifts.csv --schedule'
    expect(await giving('clone', add, {}, '30 1 * * *')).toMatchObject({ code: 0 })
    const failed = await giving('clone', 'sources run gifts', {})
    expect(failed.code).toBe(2)
    expect(failed.output).toContain(`s3://drop: expected the installed package ${library} (${command})`)
    const secret = path.join(root, 'secret')
    await writeFile(secret, 'seven quiet rivers run', { mode: 0o600 })
    const sftp = `sources add bank --kind gifts --from sftp://u@bank.example/a.csv --secret-file ${secret} --host-key SHA256:${'A'.repeat(43)} --schedule`
    expect(await giving('clone', sftp, {}, '30 1 * * *')).toMatchObject({ code: 0 })
    const { output } = await giving('clone', 'sources run bank', {})
    expect(output).toContain(
      `sftp://bank.example/a.csv: expected the installed package ssh2 (${inClone} ${named('ssh2')})`,
    )
  })

  it('in a clone that has another one: the command names both, since npm removes what it does not name', async () => {
    await addPackage('clone/node_modules', 'stripe')
    expect((await giving('clone', 'status', stripe)).output).toContain('needs a person')
    const command = `${inClone} ${named('braintree')} ${named('stripe')}`
    expect(await giving('clone', 'status', braintree)).toMatchObject(
      wrong(`PAYMENT_GATEWAY: expected the installed package braintree (${command}), got "braintree"`),
    )
  })

  it.each([
    ['of a folder', 'beside/node_modules', '', 'package.json'],
    ['of the machine', 'global/lib/node_modules', '--global ', 'lib.txt'],
  ])('beside the package %s: the command installs it there', async (_, modules, option, file) => {
    await install(`${modules}/giving-iati`, modules)
    await writeFile(path.join(root, modules, '..', file), '{}')
    const expected = `the installed package stripe (npm install ${option}${named('stripe')}), got "stripe"`
    expect(await giving(`${modules}/giving-iati`, 'status', stripe)).toMatchObject(
      wrong(`PAYMENT_GATEWAY: expected ${expected}`),
    )
    await addPackage(modules, 'stripe')
    expect((await giving(`${modules}/giving-iati`, 'status', stripe)).output).toContain('needs a person')
  })
})
