import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Agent, request } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '../support/database.js'
import { seedProjects } from '../support/seeded.js'
import { selfSigned } from '../support/self-signed.js'
import { askForRun, createFleet, runEnded } from './support/fleet.js'
import { record } from './support/record.js'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return address.port
}

test('deploy/nginx.conf before a running service: TLS, redirects, files byte by byte', async (context) => {
  if (spawnSync('nginx', ['-v']).error) return context.skip('nginx is not installed')
  const folder = await mkdtemp(path.join(tmpdir(), 'giving-nginx-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [plain, secure] = [await freePort(), await freePort()]
  const { store, url } = await testDatabase()
  const fleet = await createFleet({ DATABASE_URL: url, TRUST_PROXY: 'loopback' })
  onTestFinished(fleet.end)
  await seedProjects(store, 200)
  await fleet.start('worker')
  expect((await runEnded(store, await askForRun(store))).state).toBe('published')
  const { baseUrl: direct } = await fleet.start('api')

  await writeFile(path.join(folder, 'key.pem'), selfSigned.key)
  await writeFile(path.join(folder, 'cert.pem'), selfSigned.cert)
  const site = (await readFile(path.resolve(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8'))
    .replaceAll(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${plain};`)
    .replace('listen 443', `listen 127.0.0.1:${secure}`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${folder}/cert.pem;`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${folder}/key.pem;`)
    .replace('server 127.0.0.1:8080;', `server ${new URL(direct).host};`)
  const file = path.join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  await writeFile(
    file,
    `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary.join(' ')}\n${site}\n}`,
  )
  const checked = spawnSync('nginx', ['-t', '-q', '-c', file], { encoding: 'utf8' })
  expect({ status: checked.status, said: checked.stderr }).toEqual({ status: 0, said: '' })
  const nginx = spawn('nginx', ['-c', file], { stdio: 'ignore' })
  onTestFinished(() => void nginx.kill())

  // The certificate is nobody's.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  onTestFinished(() => dispatcher.close())
  const ask = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await request(url, { dispatcher, headers: { host: 'giving.example.org', ...headers } })
    return { ...answer, bytes: Buffer.from(await answer.body.arrayBuffer()) }
  }
  await expect.poll(() => ask(`http://127.0.0.1:${plain}/`).catch(() => undefined)).toBeDefined()
  const redirected = await ask(`http://127.0.0.1:${plain}/iati/activities.xml?x=1`)
  expect([redirected.statusCode, redirected.headers.location]).toEqual([
    308,
    'https://giving.example.org/iati/activities.xml?x=1',
  ])

  const through = `https://127.0.0.1:${secure}`
  const files = ['/iati/activities.xml', '/iati/organisations.xml', '/feeds/reports.atom', '/feeds/manifest.json']
  for (const name of files) {
    for (const headers of [{}, { 'accept-encoding': 'gzip' }, { range: 'bytes=100-4999' }]) {
      const [ours, proxied] = [await ask(direct + name, headers), await ask(through + name, headers)]
      expect(proxied.statusCode).toBe(ours.statusCode)
      expect(proxied.bytes.equals(ours.bytes), name).toBe(true)
      for (const header of [
        'etag',
        'last-modified',
        'content-length',
        'content-range',
        'content-encoding',
        'x-release',
      ]) {
        expect(proxied.headers[header], `${name} ${header}`).toBe(ours.headers[header])
      }
      const { etag } = ours.headers
      expect((await ask(through + name, { 'if-none-match': String(etag) })).statusCode).toBe(304)
    }
  }
  expect((await ask(`${through}/readyz`)).headers['strict-transport-security']).toMatch(/max-age/)
  record({
    name: 'deploy/nginx.conf before a running service: TLS, redirect, whole, compressed and partial files',
    engine: '-',
    tried: files.length * 3,
    outcome: 'every answer the same, byte by byte, as without it',
  })
})
