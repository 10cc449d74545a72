import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { findPostmaster } from '../../../src/platform/embedded-postgres/postmaster.js'
import { findProcessIdentity } from '../../../src/platform/embedded-postgres/process-identity.js'
import { transpileProgram } from '../../support/commands/cli.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const npmApi = ['npm', 'run', 'giving', '--', 'api']
const nodeApi = [process.execPath, 'dist/src/cli.js', 'api']

/** How the service is started, and which signal the started process gets. */
type Supervisor = { readonly name: string; readonly command: readonly string[]; readonly signal: NodeJS.Signals }

/** One of each kind of ending, for each landing. */
export const usualSupervisors: readonly Supervisor[] = [
  { name: 'npm start', command: ['npm', 'start'], signal: 'SIGTERM' },
  { name: 'npm', command: npmApi, signal: 'SIGKILL' },
  { name: 'node', command: nodeApi, signal: 'SIGHUP' },
  // The end of `script` closes the terminal that it made.
  { name: 'a terminal', command: ['script', '--quiet', '--command', npmApi.join(' '), '/dev/null'], signal: 'SIGKILL' },
]

export const otherSupervisors: readonly Supervisor[] = [
  { name: 'npm', command: npmApi, signal: 'SIGTERM' },
  { name: 'npm', command: npmApi, signal: 'SIGINT' },
  { name: 'npm', command: npmApi, signal: 'SIGHUP' },
  { name: 'node', command: nodeApi, signal: 'SIGTERM' },
  { name: 'node', command: nodeApi, signal: 'SIGKILL' },
  { name: 'timeout', command: ['timeout', '600', ...npmApi], signal: 'SIGTERM' },
  { name: 'setsid', command: ['setsid', ...npmApi], signal: 'SIGHUP' },
]

/** The tests of a service that loses each of these supervisors. */
export function testSupervisors(supervisors: readonly Supervisor[]): void {
  let program: string
  let dataDir: string
  let clusterDir: string

  beforeAll(async () => {
    program = await transpileProgram()
    dataDir = await temporaryFolder()
    const server = await openEmbeddedPostgres({ dataDir })
    clusterDir = server.clusterDir
    await server.release()
  }, 120_000)

  afterAll(async () => {
    for (const dir of [clusterDir, dataDir]) await rm(dir, { recursive: true, force: true })
  })

  it.each(supervisors)(
    'a service that loses its supervisor leaves no process and no PostgreSQL: $name gets $signal',
    { timeout: 120_000 },
    async (row) => {
      const { command, signal } = row
      const [file = '', ...args] = command
      // These two programs do not exist everywhere.
      if (file === 'script' || file === 'setsid') {
        if (spawnSync(file, ['--version']).error) return console.log(`skipped: ${file} is not installed`)
      }
      const { PATH = '', HOME = '' } = process.env
      const child = spawn(file, args, {
        cwd: program,
        env: { PATH, HOME, GIVING_DATA_DIR: dataDir, PORT: '0', BASE_URL: 'https://giving.example' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const pid = await pidOfService(child)
      expect(await findPostmaster(clusterDir)).toMatchObject({ status: 'ready' })
      child.kill(signal)
      const running = async () => [await findProcessIdentity(pid), await findPostmaster(clusterDir)]
      await expect.poll(running, { timeout: 60_000, interval: 200 }).toEqual([undefined, undefined])
      const lastLine = async () => (await readFile(path.join(clusterDir, 'server.log'), 'utf8')).slice(-30)
      await expect.poll(lastLine).toMatch(/database system is shut down\n$/)
    },
  )
}

/** The process id in the first line of the service's log after it has begun to listen. */
async function pidOfService(child: ChildProcess): Promise<number> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)))
  await expect.poll(() => output, { timeout: 60_000 }).toMatch(/listening on |index page:/)
  return Number(/"pid":(\d+)/.exec(output)?.[1])
}
