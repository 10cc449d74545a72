import { execFile, spawn, spawnSync } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.js'
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
  await expect.poll(() => output, { timeout: 120_000 }).toMatch(/^ready: /m)
  const [, baseUrl = ''] = /^ready: (\S+)\/$/m.exec(output) ?? []
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
