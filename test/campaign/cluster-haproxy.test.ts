import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/platform/database/store.js'
import { newInstallation } from '../support/commands/cli.js'
import { donationFields, targetRecord } from '../support/money/donations.js'
import { faultsOf } from '../support/release/published-folder.js'
import { startStripe, stripeKeys } from '../support/servers/stripe-server.js'
import { seedProjects } from '../support/store/seeded.js'
import { createFleet, type FleetProcess, until } from './support/fleet.js'
import { haProxyMissing, startHaProxy } from './support/haproxy.js'
import { installedPostgresMissing, startInstalledPostgres } from './support/installed-postgres.js'
import { startLoad } from './support/load.js'
import { duration, record } from './support/record.js'

const missing = installedPostgresMissing() ?? haProxyMissing()
if (missing !== undefined) console.warn(`Failovers behind HAProxy are skipped: ${missing}.`)

const user = { email: 'a@example.org', password: 'seven quiet rivers run' }

describe.skipIf(missing)('a primary and its standby behind HAProxy', () => {
  test.each(['synchronous', 'asynchronous'] as const)(
    '%s: the primary dies under donations, reads and publications, and comes back',
    {
      timeout: 600_000,
    },
    async (replication) => {
      const server = await startInstalledPostgres()
      const standby = await server.standby()
      const proxy = await startHaProxy(server.url, standby.url)
      const processor = await startStripe()
      const setUp = openStore({ url: server.url, max: 2, applicationName: 'campaign' })
      const environment = {
        DATABASE_URL: proxy.url,
        REPORTING_ORG_REF: 'XE-EXAMPLE-CAMPAIGN',
        PAYMENT_GATEWAY: 'stripe',
        PAYMENT_GATEWAY_URL: `https://localhost:${processor.address.port}`,
        PAYMENT_GATEWAY_CA_FILE: processor.address.caFile,
        PAYMENT_TIMEOUT_SECONDS: '5',
        STRIPE_SECRET_KEY: stripeKeys.secretKey,
        STRIPE_PUBLISHABLE_KEY: stripeKeys.publishableKey,
        STRIPE_WEBHOOK_SECRET: stripeKeys.webhookSecret,
        DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
        PUBLISH_SCHEDULE: '*/20 * * * * *',
      }
      const fleet = await createFleet(environment)
      const giving = await newInstallation({ ...environment, GIVING_DATA_DIR: fleet.dataDir })
      const stores = [setUp]
      onTestFinished(async () => {
        await fleet.end()
        for (const store of stores) await store.close()
        await Promise.all([proxy.stop(), processor.close(), server.stop()])
      })
      if (replication === 'synchronous') {
        await setUp.db.query(`alter system set synchronous_standby_names = '*'`)
        await setUp.db.query('select pg_reload_conf()')
      }
      expect((await giving.run(['migrate'])).code).toBe(0)
      await seedProjects(setUp, 50)
      const file = path.join(fleet.dataDir, 'project.json')
      await writeFile(file, JSON.stringify({ projects: { project: [targetRecord] } }))
      expect((await giving.run(['import', file])).code).toBe(0)
      const made = await giving.run(
        ['users', 'create', '--email', user.email, '--password-stdin', '--json'],
        user.password,
      )
      const { apiKey } = JSON.parse(made.stdout) as { apiKey: string }
      await giving.run(['users', 'grant', 'donations', '--email', user.email])
      const [one, two] = await Promise.all([fleet.start('api'), fleet.start('api'), fleet.start('worker')])
      const apis: FleetProcess[] = [one, two]
      const post = async (api: FleetProcess | undefined, where: string, body: object) => {
        const headers = { 'content-type': 'application/json' }
        const init = { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(20_000) }
        const answer = await fetch(`${api?.baseUrl}/api/${where}`, init)
        return { status: answer.status, text: await answer.text() }
      }
      const signIn = async () => {
        const { text } = await post(one, 'userservice/tokens', { auth_request: { user, api_key: apiKey } })
        return (JSON.parse(text) as { auth_response: { access_token: string } }).auth_response.access_token
      }
      const credentials = `api_key=${apiKey}&api_token=${await signIn()}`
      const give = (transactionId: string, api = one) => {
        const fields = donationFields({ transactionId }, { paymentGateway: 'stripe' })
        return post(api, `secure/givingservice/donationsclient?${credentials}`, { donation: fields })
      }

      // Donors: each repeats what was not answered until it is, at whichever process.
      const answered = new Map<string, number>()
      const others = new Set<string>()
      let stillGiving = true
      const donor = async (at: number) => {
        while (stillGiving) {
          const transactionId = randomUUID()
          for (let attempt = at; !answered.has(transactionId) && stillGiving; attempt++) {
            const answer = await give(transactionId, apis[attempt % 2]).catch(() => undefined)
            if (answer?.status === 200) answered.set(transactionId, performance.now())
            else if (answer && answer.status !== 503) others.add(`${answer.status} ${answer.text}`)
            await sleep(100)
          }
        }
      }
      const donors = [0, 1, 2, 3].map(donor)
      const reads = ['projectservice/all/projects', 'services/search/projects?q=water', 'projectservice/themes'].map(
        (place) => `/api/public/${place}${place.includes('?') ? '&' : '?'}api_key=${apiKey}`,
      )
      const load = startLoad(two.baseUrl, reads, 4)
      const published = async (store: typeof setUp) => {
        const { rows } = await store.db.query<{ n: number }>(
          `select count(*)::integer as n from run where state in ('published', 'unchanged')`,
        )
        return rows[0]?.n ?? 0
      }
      await until(async () => (await published(setUp)) > 0 && answered.size > 20)

      if (replication === 'asynchronous') {
        await standby.cutOff()
        const had = answered.size
        await until(async () => answered.size > had + 20)
      }
      await server.kill()
      const died = performance.now()
      const beforeIt = answered.size
      await sleep(1000)
      const store = openStore({ url: await standby.promote(), max: 2, applicationName: 'campaign' })
      stores.push(store)
      await until(async () => [...answered.values()].some((at) => at > died + 1000))
      const awayMs = Math.min(...[...answered.values()].filter((at) => at > died + 1000)) - died
      const had = await published(store)
      await until(async () => (await published(store)) > had)

      // The old primary comes back, and the proxy leads to it again: it is read and not written.
      await until(async () => answered.size > beforeIt + 20)
      await server.comeBack()
      const refused = await until(async () => {
        const answer = await give(randomUUID())
        // A gift that the change has met on its way is told to be repeated.
        return answer.status === 503 && !answer.text.includes('not known yet') && answer
      })
      expect(refused.text).toContain('cannot take this request at the moment')
      const status = await until(async () => {
        const said = await giving.run(['status'])
        return said.stdout.includes('older primary') && said
      })
      expect(status.code).toBe(1)
      const stopped = answered.size
      await sleep(3000)
      expect(answered.size).toBe(stopped)
      await server.kill()
      await until(async () => answered.size > stopped + 20)
      stillGiving = false
      await Promise.all(donors)
      const { answers, faults } = await load.stop()
      expect(faults).toEqual([])
      expect([...others]).toEqual([])

      // Whom the service told that the gift was taken, and who is not in the books.
      const booked = async () => {
        const { rows } = await store.db.query<{ id: string }>(
          `select transaction_id as id from donation where status = 'settled'`,
        )
        return new Set(rows.map(({ id }) => id))
      }
      const inBooks = await booked()
      const lost = [...answered.keys()].filter((id) => !inBooks.has(id))
      // Of another one the standby may have the intent alone; the service itself asks for its charge.
      const { rows: kept } = await store.db.query<{ id: string }>('select transaction_id as id from donation')
      const known = new Set(kept.map(({ id }) => id))
      const unknown = lost.filter((id) => !known.has(id))
      if (replication === 'synchronous') expect(lost).toEqual([])
      else expect(lost.length).toBeGreaterThan(0)
      const days = [
        ...new Set([died, performance.now()].map((at) => new Date(performance.timeOrigin + at).toISOString())),
      ]
      for (const charge of processor.ledger.charges) processor.ledger.settle(charge)
      const adopted: unknown[] = []
      const named = performance.now()
      for (const day of new Set(days.map((at) => at.slice(0, 10)))) {
        const reconciled = await giving.run(['books', 'reconcile', '--day', day, '--adopt', '--json'])
        const { differences, ...rest } = JSON.parse(reconciled.stdout) as { differences: unknown[]; adopted: unknown[] }
        expect(differences).toEqual([])
        adopted.push(...rest.adopted)
      }
      const namedMs = performance.now() - named
      expect(adopted.length).toBeGreaterThanOrEqual(unknown.length)
      // Repeated, each finds its charge.
      for (const id of lost) expect((await give(id)).status).toBe(200)
      const references = processor.ledger.approved().map(({ reference }) => reference)
      expect(new Set(references).size).toBe(references.length)
      const all = await booked()
      expect([...answered.keys()].filter((id) => !all.has(id))).toEqual([])
      expect((await giving.run(['books', 'check'])).code).toBe(0)
      await until(async () => (await published(store)) > had)
      expect(await faultsOf(fleet.feedsDir, store)).toEqual([])
      record({
        name: `cluster: HAProxy ${proxy.version}, ${replication} standby; the primary dies, then comes back`,
        engine: 'PostgreSQL',
        tried: answered.size,
        outcome: `${answered.size} donations and ${answers} reads: donations again after ${duration(awayMs)}; ${lost.length} lost with the primary, ${adopted.length} entered from their charges in ${duration(namedMs)}, 0 charged twice; the old primary is not written`,
      })
    },
  )
})
