import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
const names = await readdir(path.join(root, 'src/extensions'))
/** What imports an extension goes with it. */
const users: Readonly<Record<string, readonly string[]>> = { sources: ['console'] }
const { url } = await testDatabase()

describe('without an extension the program compiles, publishes and serves', () => {
  let copy: string
  let folder: string
  const list = () => path.join(copy, 'src/extensions.ts')
  /** Compiles, by what the compiler remembers of the whole program; rejects with its errors. */
  const compile = () =>
    run('npx', ['tsc', '-p', 'tsconfig.build.json', '--incremental', '--tsBuildInfoFile', 'build.json'], { cwd: copy })
  beforeAll(async () => {
    copy = await temporaryFolder()
    folder = await temporaryFolder()
    for (const entry of ['src', 'jobs', 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
      await cp(path.join(root, entry), path.join(copy, entry), { recursive: true })
    }
    await symlink(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  })

  beforeEach(async () => {
    await cp(path.join(root, 'src'), path.join(copy, 'src'), { recursive: true })
    // The files of an extension that are no code went with it.
    await run('npm', ['run', 'build:assets'], { cwd: copy })
    await compile()
  })

  it.each([...names.map((name) => [name, ...(users[name] ?? [])]), names])('%s', async (...left) => {
    const whole = await readFile(list(), 'utf8')
    const isOfLeft = (line: string) => left.some((name) => line.includes(`/${name}/`) || line === `  ${name},`)
    const lines = whole.split('\n').filter((line) => !isOfLeft(line))
    expect(lines).toHaveLength(whole.split('\n').length - 2 * left.length)
    await writeFile(list(), lines.join('\n'))
    for (const name of left) {
      for (const built of ['', 'dist']) await rm(path.join(copy, built, 'src/extensions', name), { recursive: true })
    }
    // The recipes that every installation has are files that nothing names.
    const recipes = left === names ? 0 : 4
    for (const built of recipes === 0 ? ['', 'dist'] : []) {
      await rm(path.join(copy, built, 'src/catalogue/import/recipes/built-in'), { recursive: true })
    }
    await compile()
    const environment = {
      ...{ PATH: process.env.PATH, DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' },
      ...{ REPORTING_ORG_REF: 'XE-EXAMPLE-GIVING', REPORTING_ORG_NAME: 'Giving' },
    }
    const givingIn = (env: NodeJS.ProcessEnv, ...args: string[]) =>
      run('node', ['dist/src/cli.js', ...args], { cwd: copy, env })
    const giving = (...args: string[]) => givingIn(environment, ...args)
    await giving('seed', '--projects', '20')
    await giving('publish', '--inline', '--force')
    expect(JSON.parse((await giving('recipes', 'list', '--json')).stdout).recipes).toHaveLength(recipes)
    expect((await giving('status')).stdout).toMatch(/^needs a person: nothing$/m)
    if (left.includes('bucket')) {
      const asked = givingIn({ ...environment, FEEDS_S3_BUCKET: 'feeds' }, 'releases', 'list')
      await expect(asked).rejects.toThrow('FEEDS_S3_BUCKET: this service is without buckets')
    }
    const serving = { ...environment, PORT: '0', OPS_PORT: '0' }
    const api = spawn('node', ['dist/src/cli.js', 'api'], {
      cwd: copy,
      env: serving,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void api.kill('SIGKILL'))
    let told = ''
    while (!/listening on http\S+"/.test(told)) told += (await once(api.stderr, 'data')).join('')
    const [, base = ''] = /listening on (http[^"]+)"/.exec(told) ?? []
    const answers = ['/', '/readyz', '/iati/activities.xml', '/projects'].map(
      async (at) => (await fetch(`${base}${at}`)).status,
    )
    expect(await Promise.all(answers)).toEqual([200, 200, 200, left.includes('portal') ? 404 : 200])
    expect(told.includes('console on ')).toBe(!left.includes('console'))
    api.kill()
    expect(await once(api, 'exit')).toEqual([0, null])
  })
})
