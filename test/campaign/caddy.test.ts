import { spawn, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/servers/free-port.js'
import { testDatabase } from '../support/store/database.js'
import { seedProjects } from '../support/store/seeded.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { clientOf, expectSameAnswers } from './support/behind-proxy.js'
import { askForRun, createFleet, runEnded } from './support/fleet.js'
import { record } from './support/record.js'

test('deploy/Caddyfile before a running service: HTTPS, redirects, byte by byte, and no request lost while an API process stops', async (context) => {
  if (spawnSync('caddy', ['version']).error) return context.skip('caddy is not installed')
  const folder = await temporaryFolder()
  const { store, url } = await testDatabase()
  const fleet = await createFleet({ DATABASE_URL: url, TRUST_PROXY: 'loopback' })
  onTestFinished(fleet.end)
  await seedProjects(store, 200)
  await fleet.start('worker')
  expect((await runEnded(store, await askForRun(store))).state).toBe('published')
  const [staying, stopping] = [await fleet.start('api'), await fleet.start('api')]

  const [plain, secure] = [await freePort(), await freePort()]
  // Other ports, no certificate authority in the trust of this machine; the rest is the file as it is.
  const settings = `{\n admin off\n skip_install_trust\n http_port ${plain}\n https_port ${secure}\n}\n`
  const file = path.join(folder, 'Caddyfile')
  await writeFile(
    file,
    settings + (await readFile(path.resolve(import.meta.dirname, '../../deploy/Caddyfile'), 'utf8')),
  )
  const addresses = [staying, stopping].map(({ baseUrl }) => new URL(baseUrl).host)
  const caddy = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: {
      ...process.env,
      ...{ PUBLIC_HOST: 'localhost', API_ADDRESS: addresses.join(' ') },
      ...{ XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => caddy.once('exit', resolve))
  onTestFinished(async () => {
    caddy.kill()
    await ended
  })

  const ask = clientOf('localhost')
  await expect.poll(() => ask(`https://localhost:${secure}/healthz`).catch(() => undefined)).toBeDefined()
  const redirected = await ask(`http://localhost:${plain}/iati/activities.xml?x=1`)
  expect([redirected.statusCode, redirected.headers.location]).toEqual([
    308,
    'https://localhost/iati/activities.xml?x=1',
  ])
  const through = `https://localhost:${secure}`
  const compared = await expectSameAnswers(ask, staying.baseUrl, through)
  expect((await ask(`${through}/readyz`)).headers['strict-transport-security']).toMatch(/max-age/)

  const answers: Record<string, number> = {}
  let over = false
  const asking = Array.from({ length: 8 }, async () => {
    while (!over) {
      const said = await ask(`${through}/feeds/manifest.json`).then(({ statusCode }) => `${statusCode}`, String)
      answers[said] = (answers[said] ?? 0) + 1
    }
  })
  await sleep(500)
  expect((await stopping.terminate()).code).toBe(0)
  await sleep(500)
  over = true
  await Promise.all(asking)
  expect(answers).toEqual({ 200: expect.any(Number) })
  record({
    name: 'deploy/Caddyfile before two API processes: HTTPS, redirect, whole, compressed and partial files',
    engine: '-',
    tried: compared,
    outcome: `every answer the same, byte by byte, as without it; ${answers['200']} requests while one of the processes stopped, none failed`,
  })
})
