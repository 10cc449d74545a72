import { spawn, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import autocannon from 'autocannon'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/servers/free-port.js'
import { selfSigned } from '../support/servers/self-signed.js'
import { testDatabase } from '../support/store/database.js'
import { seedProjects } from '../support/store/seeded.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { clientOf, expectSameAnswers } from './support/behind-proxy.js'
import { askForRun, createFleet, runEnded } from './support/fleet.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

const projects = 2000

test('deploy/nginx.conf before a running service: TLS, redirects, files that nginx sends, byte by byte', async (context) => {
  if (spawnSync('nginx', ['-v']).error) return context.skip('nginx is not installed')
  const folder = await temporaryFolder()
  const [plain, secure, bare] = [await freePort(), await freePort(), await freePort()]
  const { store, url } = await testDatabase()
  const fleet = await createFleet({ DATABASE_URL: url, TRUST_PROXY: 'loopback' })
  onTestFinished(fleet.end)
  await seedProjects(store, projects)
  await fleet.start('worker')
  expect((await runEnded(store, await askForRun(store))).state).toBe('published')
  const { baseUrl: direct } = await fleet.start('api')
  const behind = await fleet.start('api', { ACCEL_LOCATION: '/giving-files/' })

  await writeFile(path.join(folder, 'key.pem'), selfSigned.key)
  await writeFile(path.join(folder, 'cert.pem'), selfSigned.cert)
  const site = (await readFile(path.resolve(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8'))
    .replaceAll(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${plain};`)
    .replace('listen 443', `listen 127.0.0.1:${secure}`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${folder}/cert.pem;`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${folder}/key.pem;`)
    .replace('server 127.0.0.1:8080;', `server ${new URL(behind.baseUrl).host};`)
    .replace('alias /var/lib/giving/feeds/;', `alias ${fleet.feedsDir}/;`)
  // The same without TLS and without a limit, beside the same files as nginx serves them alone.
  const measured = site
    .slice(site.lastIndexOf('\nserver {'))
    .replace(/listen .*;/, `listen 127.0.0.1:${bare};`)
    .replaceAll(/^ *(ssl_.*|limit_rate.*)\n/gm, '')
    .replace('location / {', `location /alone/ { alias ${fleet.feedsDir}/; sendfile on; }\n    location / {`)
  const file = path.join(folder, 'nginx.conf')
  // The folder of the test is its owner's alone.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  await writeFile(
    file,
    `${user} daemon off; pid ${folder}/pid; error_log stderr; events {}
      http { access_log off; ${temporary.join(' ')}\n${site}\n${measured}\n}`,
  )
  const checked = spawnSync('nginx', ['-t', '-q', '-c', file], { encoding: 'utf8' })
  expect({ status: checked.status, said: checked.stderr }).toEqual({ status: 0, said: '' })
  const nginx = spawn('nginx', ['-c', file], { stdio: 'ignore' })
  onTestFinished(() => void nginx.kill())

  const ask = clientOf('giving.example.org')
  await expect.poll(() => ask(`http://127.0.0.1:${plain}/`).catch(() => undefined)).toBeDefined()
  const redirected = await ask(`http://127.0.0.1:${plain}/iati/activities.xml?x=1`)
  expect([redirected.statusCode, redirected.headers.location]).toEqual([
    308,
    'https://giving.example.org/iati/activities.xml?x=1',
  ])

  const through = `https://127.0.0.1:${secure}`
  const compared = await expectSameAnswers(ask, direct, through)
  expect((await ask(`${through}/readyz`)).headers['strict-transport-security']).toMatch(/max-age/)

  // Nobody reaches the files but through the API.
  expect((await ask(`${through}/giving-files/manifest.json`)).statusCode).toBe(404)

  // In turns, so that what else the machine does slows all three.
  const addresses = {
    api: `${direct}/iati/activities.xml`,
    both: `http://127.0.0.1:${bare}/iati/activities.xml`,
    alone: `http://127.0.0.1:${bare}/alone/current/iati/activities.xml`,
  }
  const megabytes = { api: 0, both: 0, alone: 0 }
  for (let round = 0; round < scaled(10); round++) {
    for (const [who, url] of Object.entries(addresses)) {
      const { throughput, non2xx } = await autocannon({ url, connections: 8, duration: 1 })
      expect(non2xx).toBe(0)
      megabytes[who as keyof typeof addresses] += throughput.total / 1e6
    }
  }
  const share = (who: keyof typeof addresses) => (megabytes[who] / megabytes.alone).toFixed(2)
  record({
    name: 'deploy/nginx.conf before a running service: TLS, redirect, whole, compressed and partial files',
    engine: '-',
    tried: compared,
    outcome: `every answer the same, byte by byte, as without it; ${share('both')} of the throughput of nginx alone, the API without nginx ${share('api')}`,
  })
})
