import { spawn, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newInstallation } from '../support/cli.js'
import { emptyDatabase } from '../support/database.js'
import { freePort } from '../support/free-port.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { listening } from './support/listening.js'
import { record } from './support/record.js'

const missing = ['redis-server', 'redis-sentinel'].find((name) => spawnSync(name, ['--version']).error)

/** Starts a program of Redis for the test; returns its port. */
async function startRedisProgram(program: string, lines: (port: number) => readonly string[]): Promise<number> {
  const dir = await temporaryFolder()
  const port = await freePort()
  const file = path.join(dir, 'redis.conf')
  await writeFile(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`, ...lines(port)].join('\n'))
  const child = spawn(program, [file], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await listening(port, () => child.exitCode === null)
  return port
}

test.skipIf(missing)('a Redis that takes no jobs is refused in one sentence, by commands that end', async () => {
  const plain = ['save ""']
  const primary = await startRedisProgram('redis-server', () => plain)
  const servers = {
    'a sentinel': await startRedisProgram('redis-sentinel', () => [`sentinel monitor one 127.0.0.1 ${primary} 1`]),
    'a replica': await startRedisProgram('redis-server', () => [...plain, `replicaof 127.0.0.1 ${primary}`]),
    'a node of a cluster': await startRedisProgram('redis-server', () => [...plain, 'cluster-enabled yes']),
  }
  const { url } = await emptyDatabase()
  for (const [what, port] of Object.entries(servers)) {
    const service = await newInstallation({
      DATABASE_URL: url,
      REDIS_URL: `redis://127.0.0.1:${port}`,
      REPORTING_ORG_REF: 'US-EIN-123456789',
    })
    onTestFinished(() => service.remove())
    const worker = await service.run(['worker'])
    expect([worker.code, worker.stderr]).toEqual([2, expect.stringMatching(/^giving: REDIS_URL: expected .*\n$/m)])
    expect(worker.stderr).toContain(`got ${what}`)
    const doctor = await service.run(['doctor'])
    expect(doctor.stdout).toMatch(new RegExp(`^FIX +queue: +REDIS_URL: expected .* got ${what}`, 'm'))
    expect(doctor.code).toBe(1)
  }
  record({
    name: 'cluster: the address of a sentinel, a replica, a node of a cluster',
    engine: 'Redis',
    tried: 3,
    outcome: 'refused in one sentence; giving worker exits 2, giving doctor 1',
  })
})
