import { randomUUID } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import { readConfig } from '../../../src/platform/config/config.js'
import { openStore } from '../../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { createLog } from '../../../src/platform/observability/log.js'
import { type Installation, newInstallation, type RunningService } from '../../support/commands/cli.js'
import { donationFields, targetRecord } from '../../support/money/donations.js'
import { braintreeKeys } from '../../support/servers/braintree-server.js'
import { type MailServer, openMailServer, readMail } from '../../support/servers/mail-server.js'
import { everyKey, startRedis, type TestRedis } from '../../support/servers/redis.js'
import { stripeKeys } from '../../support/servers/stripe-server.js'
import { everyRow } from '../../support/store/every-row.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'
import { type CampaignProcessor, type ProcessorPlace, startCampaignProcessor } from './donation-faults/processors.js'

export type SecrecyPlan = {
  readonly processor: ProcessorPlace['name']
  readonly donations: number
  readonly kills: number
  /** Whether the queue is in Redis. */
  readonly redis?: boolean
}

// Words that stand in each donation and nowhere else.
const donor = {
  ...{ firstname: 'Xanthippe', lastname: 'Quillfeather', address: '17 Heronsbrook Lane', city: 'Ballyfindme' },
  ...{ iso3166CountryCode: 'IE', zip: 'ZQ91 X7Y8', ipAddress: '203.0.113.77', userAgent: 'Findmebrowser/7.1' },
}
const email = 'xq.findme@quillfeather.example'
const reader = 'reader.findme@quillfeather.example'
const note = 'For the well beside the crooked willow'
const gatewayKey = 'findme-gateway-key'
const nonces = ['fake-valid-findme7-nonce', 'fake-valid-findme8-nonce', 'fake-timeout-after-nonce', 'fake-down-nonce']

/**
 * Donations to real API processes that are killed meanwhile, with receipts as mail and PDF, a refund and the statement of the
 * year; then everything that the service keeps or prints is searched for what donors sent, for the addresses that are for a donor
 * alone, and for the keys of the service.
 */
export function describeSecrecy(plan: SecrecyPlan): void {
  const { processor: name, donations, kills, redis: inRedis = false } = plan
  describe(`donations at ${name}, ${inRedis ? 'the queue in Redis, ' : ''}processes killed`, () => {
    const closing: (() => Promise<unknown>)[] = []
    afterAll(async () => {
      for (const close of closing.reverse()) await close()
    }, 60_000)

    it('are in the books once, and leave nothing of donors, nonces or keys in clear', {
      timeout: 600_000,
    }, async () => {
      const redis = inRedis ? await startRedis() : undefined
      if (redis) closing.push(() => redis.stop())
      const opened = await open(name, redis, closing)
      const { installation, store, processor, mail } = opened
      const services = [await installation.serve('api'), await installation.serve('api')]
      const { apiKey, token } = await credentials(installation, services[0])
      const bodies = Array.from({ length: donations }, (_, n) => aDonation(n, processor))
      let killed = 0
      const killer = async () => {
        for (; killed < kills; killed++) {
          await sleep(400)
          services[killed % 2]?.kill('SIGKILL')
          const next = await installation.serve('api')
          // The dead one stays among the services, for its log.
          services.push(services[killed % 2] as RunningService)
          services[killed % 2] = next
        }
      }
      const send = async (body: string) => {
        for (let attempt = 0; attempt < 40; attempt++) {
          const api = services[attempt % 2]
          const url = `${api?.baseUrl}/api/secure/givingservice/donationsclient?api_key=${apiKey}&api_token=${token}`
          const headers = { 'content-type': 'application/json' }
          const status = await fetch(url, { method: 'POST', headers, body }).then(
            (answer) => answer.status,
            () => 0,
          )
          if (status === 200 || status === 400 || (status === 503 && attempt > 1)) return
          await sleep(200)
        }
      }
      const waiting = [...bodies]
      const client = async () => {
        for (let body = waiting.pop(); body !== undefined; body = waiting.pop()) await send(body)
      }
      await Promise.all([killer(), client(), client(), client(), client()])
      expect(killed).toBe(kills)

      const stillOpen = async () => (await store.db.query(`select from donation where status = 'received'`)).rowCount
      await store.db.query(`update donation set lease_until = now() where status = 'received'`)
      services.push(await installation.serve('worker'))
      const tick = await ticksOf(opened, redis, closing)
      while ((await stillOpen()) > 0) await sleep(200)
      const { rows } = await store.db.query<{ settled: string }>(
        `select coalesce(sum(amount + addon), 0)::numeric(18, 2)::text as settled from donation where status = 'settled'`,
      )
      expect(rows[0]?.settled).toBe((await processor.held(store)).sum)
      expect(Number(rows[0]?.settled)).toBeGreaterThan(0)
      // Receipts, some of which are refused with the recipient's name; then all else that donors are told.
      const none = async (query: string) => {
        while ((await store.db.query(query)).rowCount > 0) await sleep(200)
      }
      const mailed = async () => {
        await store.db.query('update donor_mail set next_at = now()')
        await tick('receipts')
        for (const table of ['receipt_mail', 'donor_mail']) {
          await none(`select from ${table} where state in ('due', 'sending')`)
        }
      }
      await mailed()
      const told = () => mail.taken.map((message) => readMail(message).text)
      const links = await useLinks(`${services[0]?.baseUrl}`, told())
      mail.takesAll()
      const { rows: back } = await store.db.query<{ id: number }>(
        `select id from donation where status = 'settled' order by id limit 2`,
      )
      const [givenBack = '', paid = ''] = back.map(({ id }) => String(id))
      expect(await installation.runHere(['donations', 'refund', givenBack])).toMatchObject({ code: 0 })
      const year = String(new Date().getUTCFullYear())
      expect(await installation.runHere(['donors', 'statements', year, '--mail'])).toMatchObject({ code: 0 })
      await mailed()
      const texts = told().join()
      const pdf = path.join(await temporaryFolder(), 'receipt.pdf')
      expect(await installation.runHere(['donations', 'receipt', paid, '--pdf', pdf])).toMatchObject({ code: 0 })
      expect(await installation.runHere(['publish', '--inline'])).toMatchObject({ code: 0 })
      const ask = { method: 'POST', body: new URLSearchParams({ email: reader, project: '2045', language: 'en' }) }
      expect((await fetch(`${services[0]?.baseUrl}/subscriptions`, ask)).status).toBe(200)
      await tick('subscriptions')
      await none(`select from subscription_mail where state in ('due', 'sending')`)
      const [address = '', linkToken = ''] = /\/subscriptions\/(\w{40})/.exec(told().join('\n')) ?? []
      const yes = { method: 'POST', body: new URLSearchParams({ confirm: 'yes' }) }
      expect((await fetch(`${services[0]?.baseUrl}${address}`, yes)).status).toBe(200)
      expect((await store.db.query('select from subscription where confirmed_at is not null')).rowCount).toBe(1)
      const checked = await installation.runHere(['books', 'check'])
      expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('the books agree') })

      const folder = path.join(installation.dataDir, 'exported')
      const exported = await installation.runHere(['export', folder, '--with-donors', '--with-accounts', '--json'])
      expect(exported.code, exported.stderr).toBe(0)
      const kept = {
        'the rows of every table': await everyRow(store.db),
        'the logs': services.map((service) => service.output()).join('\n'),
        ...(redis && { 'the keys of the queue': await everyKey(redis.url) }),
        ...(await filesIn(installation.dataDir)),
        ...(await filesIn(opened.clusterDir)),
      }
      const files = Object.entries(kept).filter(([place]) => place.startsWith(opened.clusterDir))
      // The search finds what is no secret.
      expect(kept['the rows of every table']).toContain('spring-drive')
      expect(kept['the logs']).toContain('/api/secure/givingservice/donationsclient')
      expect(files.some(([, bytes]) => bytes.includes('spring-drive'))).toBe(true)
      for (const words of [
        donor.firstname,
        'were given back',
        'thank you for your donations of',
        'The receipt as PDF',
      ]) {
        expect(texts).toContain(words)
      }
      expect(kept['the logs']).toContain('was not mailed and will not be tried again')
      expect(kept['the logs']).toContain('/gifts/')
      const feeds = Object.entries(kept).filter(([place]) => place.endsWith('activities.xml'))
      expect(feeds.some(([, text]) => text.includes('<transaction ref="don'))).toBe(true)
      const donorKeys = await readFile(path.join(installation.dataDir, 'donor-keys'), 'utf8')
      const secrets = [
        ...[donor.firstname, donor.lastname, donor.address, donor.city, donor.zip, donor.ipAddress, donor.userAgent],
        ...[email, email.replace('@', '%40'), note, gatewayKey, ...nonces, apiKey, token, ...links],
        ...[reader, reader.replace('@', '%40'), linkToken],
        ...[...donorKeys.matchAll(/:(\S+)/g)].map(([, secret]) => secret ?? ''),
        ...[braintreeKeys.privateKey, stripeKeys.secretKey, 'seven quiet rivers run'],
      ].map((secret) => secret.toLowerCase())
      const found = Object.entries(kept).flatMap(([place, text]) => {
        const lower = text.toLowerCase()
        return secrets.filter((secret) => lower.includes(secret)).map((secret) => `${secret} in ${place}`)
      })
      expect(found).toEqual([])
    })
  })
}

/** Has the worker do what it does every minute. */
async function ticksOf(
  { databaseUrl }: { readonly databaseUrl: string },
  redis: TestRedis | undefined,
  closing: (() => Promise<unknown>)[],
): Promise<(schedule: 'receipts' | 'subscriptions') => Promise<void>> {
  const config = readConfig(redis ? { REDIS_URL: redis.url } : {}, ['queue'])
  const settings = queueSettings({ config, databaseUrl })
  const queue = await openQueue(settings, createLog('silent', 'json'))
  closing.push(() => queue[Symbol.asyncDispose]())
  return (schedule) => queue.add({ queue: 'settlement', name: 'tick', data: { schedule } })
}

/** Opens what the messages lead to: receipts as PDF. Gives what proves the donor. */
async function useLinks(base: string, texts: readonly string[]): Promise<string[]> {
  const links = texts.flatMap((text) => [...text.matchAll(/\/gifts\/(?:receipts\/)?(\w{40})/g)])
  for (const [address, link] of links) {
    const answer = await fetch(base + address)
    expect([link, answer.status]).toEqual([link, 200])
  }
  expect(links.length).toBeGreaterThan(0)
  return links.map(([, link = '']) => link)
}

async function open(name: ProcessorPlace['name'], redis: TestRedis | undefined, closing: (() => Promise<unknown>)[]) {
  const processor = await startCampaignProcessor(name)
  closing.push(() => processor.close())
  const mail = await openRefusingMailServer()
  closing.push(() => mail.close())
  const installation = await newInstallation({
    ...{ SMTP_URL: mail.url, MAIL_FROM: 'gifts@giving.example' },
    ...{ PLATFORM_FEE_PERCENT: '5', PAYMENT_TIMEOUT_SECONDS: '2', LOG_LEVEL: 'debug' },
    ...(redis && { REDIS_URL: redis.url }),
    ...gatewaySettings(processor),
  })
  closing.push(() => installation.remove())
  const database = await openEmbeddedPostgres({ dataDir: installation.dataDir })
  closing.push(() => database.release())
  const store = openStore({ url: database.url, max: 2, applicationName: 'secrecy' })
  closing.push(() => store.close())
  expect(await installation.runHere(['migrate'])).toMatchObject({ code: 0 })
  const file = path.join(await temporaryFolder(), 'project.json')
  await writeFile(file, JSON.stringify({ projects: { project: [targetRecord] } }))
  expect(await installation.runHere(['import', file])).toMatchObject({ code: 0 })
  return { installation, processor, store, mail, clusterDir: database.clusterDir, databaseUrl: database.url }
}

/** The first and every third recipient after it is refused at first, with an answer that names it, as those of real servers do. */
async function openRefusingMailServer(): Promise<MailServer & { takesAll(): void }> {
  let [asked, refuses] = [0, true]
  const server = await openMailServer({
    onRcptTo: ({ address }, _session, done) => {
      asked += 1
      const refused = Object.assign(new Error(`<${address}>: no mailbox of ${donor.lastname} here`), {
        responseCode: 550,
      })
      done(refuses && asked % 3 === 1 ? refused : null)
    },
  })
  return {
    ...server,
    takesAll: () => {
      refuses = false
    },
  }
}

function gatewaySettings({ place: { name, address } }: CampaignProcessor): Record<string, string> {
  if (!address) return {}
  const url = `https://${address.host}:${address.port}`
  const place = { PAYMENT_GATEWAY: name, PAYMENT_GATEWAY_URL: url, PAYMENT_GATEWAY_CA_FILE: address.caFile ?? '' }
  const { merchantId, publicKey, privateKey, merchantAccount } = braintreeKeys
  return name === 'braintree'
    ? {
        ...{ ...place, BRAINTREE_MERCHANT_ID: merchantId, BRAINTREE_PUBLIC_KEY: publicKey },
        ...{ BRAINTREE_PRIVATE_KEY: privateKey, BRAINTREE_MERCHANT_ACCOUNTS: `USD:${merchantAccount}` },
      }
    : { ...place, STRIPE_SECRET_KEY: stripeKeys.secretKey, STRIPE_PUBLISHABLE_KEY: stripeKeys.publishableKey }
}

async function credentials(installation: Installation, api: RunningService | undefined) {
  const user = { email: 'ops@example.org', password: 'seven quiet rivers run' }
  const made = await installation.runHere(
    ['users', 'create', '--email', user.email, '--password-stdin', '--json'],
    `${user.password}\n`,
  )
  const { apiKey } = JSON.parse(made.stdout) as { apiKey: string }
  for (const grant of ['donations', 'donation-notes']) {
    expect(await installation.runHere(['users', 'grant', grant, '--email', user.email])).toMatchObject({ code: 0 })
  }
  const answer = await fetch(`${api?.baseUrl}/api/userservice/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auth_request: { user, api_key: apiKey } }),
  })
  const { auth_response } = (await answer.json()) as { auth_response: { access_token: string } }
  return { apiKey, token: auth_response.access_token }
}

function aDonation(n: number, { wireName }: CampaignProcessor): string {
  const payment = { ...donor, paymentGateway: wireName, paymentGatewayKey: gatewayKey }
  // Some are declined, and some are refused since a field is wrong.
  const nonce = n % 9 === 8 ? 'fake-declined-2001-nonce' : nonces[n % 5 === 4 ? 2 + (n % 2) : n % 2]
  const amount = n % 11 === 10 ? 'no amount' : 10 + (n % 50)
  return JSON.stringify({
    donation: donationFields(
      { transactionId: randomUUID(), email, amount, noteToOrganization: note },
      { ...payment, paymentGatewayNonce: nonce },
    ),
  })
}

/** Every file below a folder, byte by byte; without the keys of donors, which are kept apart from backups. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (!entry.isFile() || entry.name === 'donor-keys') continue
    // Temporary files of the running server may be gone.
    const bytes = await readFile(file).catch(() => undefined)
    if (bytes) texts[file] = bytes.toString('latin1')
  }
  return texts
}
