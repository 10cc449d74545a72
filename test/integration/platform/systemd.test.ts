import { spawn, spawnSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLog } from '../../../src/platform/observability/log.js'
import { reportToSystemd } from '../../../src/platform/observability/supervisor.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const units = path.resolve(import.meta.dirname, '../../../deploy/systemd')

/** Why a test cannot run here; undefined when these programs are there. */
function missing(...programs: readonly string[]): string | undefined {
  const absent = programs.filter((program) => spawnSync(program, ['--version']).error)
  return absent.length > 0 ? `${absent.join(', ')} not installed` : undefined
}

describe('the units of systemd', () => {
  it('are right, and expose little', async (context) => {
    const absent = missing('systemd-analyze')
    if (absent) return context.skip(absent)
    const folder = await temporaryFolder()
    const names = await readdir(units)
    expect(names.sort()).toEqual(['giving-api.service', 'giving-worker@.service'])
    for (const name of names) {
      const file = path.join(folder, name)
      const unit = await readFile(path.join(units, name), 'utf8')
      // systemd looks whether the program is there.
      await writeFile(file, unit.replace('/usr/local/bin/giving', process.execPath))
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
      expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' })
      const security = ['security', '--offline=true', '--threshold=20', '--no-pager', file]
      expect(spawnSync('systemd-analyze', security).status, name).toBe(0)
    }
  })
})

describe('a service under systemd', () => {
  it('tells that it is ready, that it is alive, and that it stops', async (context) => {
    const absent = missing('systemd-notify', 'python3')
    if (absent) return context.skip(absent)
    const folder = await temporaryFolder()
    const socket = path.join(folder, 'notify')
    const receive = `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); print('bound', flush=True)
while True: print(s.recv(4096).decode().replace('\\n', ' '), flush=True)`
    const receiver = spawn('python3', ['-c', receive, socket], { stdio: ['ignore', 'pipe', 'ignore'] })
    onTestFinished(() => void receiver.kill())
    const received: string[] = []
    createInterface(receiver.stdout).on('line', (line) => received.push(line))
    await expect.poll(() => received).toEqual(['bound'])

    const stop = new AbortController()
    const { PATH } = process.env
    reportToSystemd({ PATH, NOTIFY_SOCKET: socket, WATCHDOG_USEC: '200000' }, stop.signal, createLog('silent'))
    const count = (state: string) => received.filter((line) => line.includes(state)).length
    await expect.poll(() => count('WATCHDOG=1')).toBeGreaterThan(1)
    expect([count('READY=1'), count('STOPPING=1')]).toEqual([1, 0])
    stop.abort()
    await expect.poll(() => count('STOPPING=1')).toBe(1)
  })

  it('is silent under another supervisor', () => {
    const stop = new AbortController()
    reportToSystemd({}, stop.signal, createLog('silent'))
    stop.abort()
  })
})
