import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { transpileProgram } from '../support/commands/cli.js'
import { afterFile } from '../support/runner/after-file.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'

// `script` of util-linux gives a command a terminal, of which Ctrl-C goes to all of its processes.
const missing =
  process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
    ? undefined
    : 'script of util-linux is not there'
if (missing) console.warn(`skipped: commands that are asked to stop in a terminal: ${missing}`)

/** A command, what it prints when it is at work, its exit code, and what it says last. */
const commands: readonly (readonly [line: string, atWork: string, code: number, last: RegExp])[] = [
  ['import projects.csv', 'records)', 2, /^giving: the import was interrupted$/m],
  ['publish --inline', 'render', 2, /^giving: the work was interrupted by a shutdown$/m],
  ['publish --wait', 'publishes itself', 2, /^giving: the work was interrupted by a shutdown$/m],
  ['sync --full --wait', 'syncs itself', 2, /^giving: the work was interrupted by a shutdown$/m],
  ['doctor', '', 2, /^giving: the examination was interrupted$/m],
  ['start', 'publishing ...', 0, /^stopping \.\.\.$/m],
  ['start', 'console: ', 0, /^stopping \.\.\.$/m],
]

describe.skipIf(missing)('a command in a terminal that is asked to stop', async () => {
  const { url } = await testDatabase()
  const program = path.join(await transpileProgram(), 'src/cli.js')
  const folder = await temporaryFolder()
  const rows = Array.from({ length: 20_000 }, (_, index) => `${index + 1},Wells,active,100,2026-01-05`)
  await writeFile(path.join(folder, 'projects.csv'), `id,title,status,goal,approvedDate\n${rows.join('\n')}\n`)
  // An upstream that takes requests, and never answers.
  const upstream = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  afterFile(async () => {
    upstream.closeAllConnections()
    upstream.close()
  })
  const { PATH = '', HOME = '' } = process.env
  const env = {
    ...{ PATH, HOME, TERM: 'xterm', DATABASE_URL: url, GIVING_DATA_DIR: folder, PORT: '0', OPS_PORT: '0' },
    ...{ REPORTING_ORG_REF: 'US-EIN-123456789', WORKER_PROCESSES: '1', ALLOW_PRIVATE_NETWORKS: 'true' },
    FACTS_CONFIRMED: 'yes',
    ...{ UPSTREAM_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, UPSTREAM_API_KEY: 'x' },
  }

  for (const [line, atWork, code, last] of commands) {
    test.each(['Ctrl-C', 'SIGTERM'])(`giving ${line}, at "${atWork}", by %s`, async (how) => {
      const child = spawn('script', ['-qefc', `exec ${process.execPath} ${program} ${line}`, '/dev/null'], {
        cwd: folder,
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const ended = once(child, 'close') as Promise<[number | null]>
      let output = ''
      let asked = false
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
        if (!asked && output.includes(atWork)) stop()
      })
      const stop = () => {
        asked = true
        if (how === 'Ctrl-C') return void child.stdin.write('\u0003')
        const [pid] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ')
        process.kill(Number(pid), 'SIGTERM')
      }
      // What prints nothing before it has ended is asked when the program has been read.
      if (atWork === '') setTimeout(stop, 1_500)
      const [exit] = await ended
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what moves the cursor begins with one.
      const printed = output.replaceAll(/\u001b(?:\[[0-9;?]*[A-Za-z]|[78])/g, '\n').replaceAll(/\r|\^C/g, '')
      expect([exit, printed]).toEqual([code, expect.stringMatching(last)])
      expect(printed.split('\n').filter((one) => /^\s*(?:[{}[]|at .*:\d+\)?$)/.test(one))).toEqual([])
    })
  }
})
