import { execFile, spawn, spawnSync } from 'node:child_process'
import { copyFile, readdir, readFile } from 'node:fs/promises'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Installation, newInstallation, type RunningService } from '../../support/commands/cli.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../../..')
const password = 'seven quiet rivers run'
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.log('the first hour in Python is not tried: python3 is not installed')

// Each begins with a key and ends with a refused donation; the service restarts while it reads page after page.
describe('the first hour of a developer', () => {
  let installation: Installation
  let service: RunningService
  let url: string
  let close: () => void
  let lists = 0
  let restarted: Promise<void> | undefined
  let refused = 0

  beforeAll(async () => {
    installation = await newInstallation()
    service = await installation.start()
    // Two requests find nobody who listens; the third waits as long as the machine takes to start the service.
    const front = createServer(async (incoming, answer) => {
      if (incoming.url?.includes('all/projects') && ++lists === 4) {
        restarted = (async () => {
          service.kill('SIGTERM')
          await service.ended
          service = await installation.start()
        })()
      }
      if (restarted && ++refused <= 2) return incoming.destroy()
      await restarted
      const { method, url: address, headers } = incoming
      const passed = ask(new URL(address ?? '', service.baseUrl), { method, headers }, (found) => {
        answer.writeHead(found.statusCode ?? 502, found.headers)
        found.pipe(answer)
      })
      passed.once('error', () => answer.destroy())
      incoming.pipe(passed)
    })
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
    close = () => front.close()
  })

  afterAll(async () => {
    close()
    await installation.remove()
  })

  /** What the program printed, line by line. */
  async function hourOf(folder: string, program: string, file: string): Promise<readonly string[]> {
    expect((await readFile(path.join(folder, file), 'utf8')).split('\n').length).toBeLessThanOrEqual(31)
    const email = `${file}@example.org`
    await installation.run(['users', 'create', '--email', email, '--password-stdin'], `${password}\n`)
    await installation.run(['users', 'grant', '--email', email, 'donations'])
    lists = refused = 0
    restarted = undefined
    const env = { PATH: process.env.PATH, HOME: process.env.HOME }
    const child = spawn(program, [file], {
      cwd: folder,
      env: { ...env, GIVING_URL: url, GIVING_EMAIL: email, GIVING_PASSWORD: password },
    })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect([await ended, stderr]).toEqual([0, ''])
    expect(refused).toBeGreaterThan(2)
    return stdout.trim().split('\n')
  }

  const expectHour = (lines: readonly string[]) => {
    const walked = lines.filter((line) => /^\d+ /.test(line) && !line.includes(' projects about water'))
    expect(walked.slice(0, 120).map((line) => Number.parseInt(line, 10))).toEqual(
      Array.from({ length: 120 }, (_, at) => at + 1),
    )
    expect(lines[120]).toMatch(/^\d+ projects about water, the best is \w/)
    expect(lines[121]).toMatch(/^given: 25/)
    expect(lines.slice(122).join(' ')).toMatch(/400.*amount/)
  }

  it('in TypeScript, with the packed client in an empty folder', async () => {
    const folder = await temporaryFolder()
    // `npm run test:campaign` has built it.
    await run('npm', ['pack', '--pack-destination', folder, path.join(root, 'dist/src/client')], { cwd: folder })
    const [tarball = ''] = await readdir(folder)
    await run('npm', ['install', '--prefix', folder, path.join(folder, tarball)], { cwd: folder })
    await copyFile(path.join(root, 'test/clients/first-hour.ts'), path.join(folder, 'first-hour.ts'))
    await run('npm', ['pkg', 'set', 'type=module'], { cwd: folder })
    const options = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--skipLibCheck']
    const types = ['--typeRoots', path.join(root, 'node_modules/@types'), '--types', 'node']
    await run(path.join(root, 'node_modules/.bin/tsc'), [...options, ...types, '--outDir', '.', 'first-hour.ts'], {
      cwd: folder,
    }).catch(({ stdout }: { stdout: string }) => expect(stdout).toBe(''))
    expectHour(await hourOf(folder, process.execPath, 'first-hour.js'))
  })

  it.skipIf(!hasPython)('in Python, with the one file of the client in an empty folder', async () => {
    const folder = await temporaryFolder()
    await copyFile(path.join(root, 'src/client/giving.py'), path.join(folder, 'giving.py'))
    await copyFile(path.join(root, 'test/clients/first-hour.py'), path.join(folder, 'first-hour.py'))
    expectHour(await hourOf(folder, 'python3', 'first-hour.py'))
  })
})
