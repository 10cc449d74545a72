import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore, type Store } from '../../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { type Installation, newInstallation, type RunningService } from '../../support/commands/cli.js'
import { donationFields, donationJson, donationXml, targetRecord } from '../../support/money/donations.js'
import { everyKey, startRedis, type TestRedis } from '../../support/servers/redis.js'
import { everyRow } from '../../support/store/every-row.js'

const hasCurl = spawnSync('curl', ['--version']).error === undefined
const cardNumber = '5178059876540437'

/**
 * Donations through API processes, a worker and commands, as an operator runs them; `redis` tells where the queue is when
 * it is not in PostgreSQL.
 */
export function describeDonations(queue: 'postgres' | 'redis'): void {
  describe(`donations in real processes, the queue in ${queue}`, { timeout: 120_000 }, () => {
    let redis: TestRedis | undefined
    let installation: Installation
    let store: Store
    let release: () => Promise<void>
    let apis: RunningService[]
    let query: string

    beforeAll(async () => {
      redis = queue === 'redis' ? await startRedis() : undefined
      installation = await newInstallation({
        ...{ PLATFORM_FEE_PERCENT: '5', PAYMENT_TIMEOUT_SECONDS: '2' },
        ...{ LOG_LEVEL: 'debug', ...(redis && { REDIS_URL: redis.url }) },
      })
      // Holds the database up while the processes that use it are killed.
      const database = await openEmbeddedPostgres({ dataDir: installation.dataDir })
      store = openStore({ url: database.url, max: 2, applicationName: 'donations e2e' })
      release = () => database.release()
      expect(await installation.run(['migrate'])).toMatchObject({ code: 0 })
      apis = [await installation.serve('api'), await installation.serve('api')]
      const file = path.join(installation.dataDir, 'project.json')
      await writeFile(file, JSON.stringify({ projects: { project: [targetRecord] } }))
      expect(await installation.run(['import', file])).toMatchObject({ code: 0 })
      query = await credentials()
    }, 120_000)

    afterAll(async () => {
      await store.close()
      await release()
      await installation.remove()
      await redis?.stop()
    }, 60_000)

    async function credentials(): Promise<string> {
      const user = { email: 'ops@example.org', password: 'seven quiet rivers run' }
      const created = await installation.run(
        ['users', 'create', '--email', user.email, '--password-stdin', '--json'],
        `${user.password}\n`,
      )
      const { apiKey } = JSON.parse(created.stdout) as { apiKey: string }
      expect(await installation.run(['users', 'grant', 'donations', '--email', user.email])).toMatchObject({ code: 0 })
      const answer = await fetch(`${apis[0]?.baseUrl}/api/userservice/tokens`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ auth_request: { user, api_key: apiKey } }),
      })
      const token = ((await answer.json()) as { auth_response: { access_token: string } }).auth_response.access_token
      return `api_key=${apiKey}&api_token=${token}`
    }

    const address = (operation: string, more = '', api = apis[0]) =>
      `${api?.baseUrl}/api/secure/givingservice/${operation}?${query}${more}`
    const post = async (
      body: string,
      { operation = 'donationsclient', more = '', type = 'json', api = apis[0] } = {},
    ) => {
      const answer = await fetch(address(operation, more, api), {
        method: 'POST',
        headers: { 'content-type': `application/${type}` },
        body,
      })
      return { status: answer.status, text: await answer.text() }
    }
    const donation = (changes: Record<string, unknown> = {}, payment: Record<string, unknown> = {}) =>
      JSON.stringify({ donation: donationFields(changes, payment) })
    const giving = async (...args: string[]) => {
      const { code, stdout, stderr } = await installation.run([...args, '--json'])
      return { code, stderr, result: stdout === '' ? undefined : (JSON.parse(stdout) as unknown) }
    }
    const booksAgree = async () => {
      const checked = await giving('books', 'check')
      expect(checked.result).toMatchObject({ differences: [] })
      expect(checked.code).toBe(0)
      return checked.result as { balances: unknown[] }
    }
    const idOf = async (transactionId: string) => {
      const { result } = await giving('donations', 'list', '--transaction', transactionId)
      return String((result as { id: number }[])[0]?.id)
    }

    it('answers the documented requests, sent with curl', async (context) => {
      if (!hasCurl) return context.skip('curl is not installed')
      const curl = (url: string, type: string, body: string) => {
        const { stdout } = spawnSync(
          'curl',
          ['-s', '-w', '\n%{http_code} %{content_type}', '-H', `Content-Type: ${type}`, '-d', body, url],
          { encoding: 'utf8' },
        )
        const end = stdout.lastIndexOf('\n')
        return { body: stdout.slice(0, end), status: stdout.slice(end + 1) }
      }
      const test = curl(address('donations', '&is_test=true'), 'application/xml', donationXml)
      expect(test.status).toBe('200 application/xml')
      expect(test.body).toContain('<funding>1290.00</funding><goal>8000.00</goal><id>2045</id>')
      const taken = curl(address('donationsclient'), 'application/json', donationJson)
      expect(taken.status).toBe('200 application/json')
      expect(JSON.parse(taken.body)).toMatchObject({
        donation: {
          ...{ amount: 40, chargedAmount: 40, currencyCode: 'USD', transactionId: 'tx-000072', checkedOut: true },
          project: { funding: 1290, goal: 8000, id: 2045, numberOfDonations: 38, remaining: 6710 },
        },
      })
      const again = curl(address('donationsclient', '', apis[1]), 'application/json', donationJson)
      expect(again).toEqual(taken)
    })

    it('charges once what two processes are sent at the same instant, and answers both the same', async () => {
      for (const paymentGatewayNonce of ['fake-valid-nonce', 'fake-slow-nonce', 'fake-declined-2004-nonce']) {
        const transactionId = randomUUID()
        const body = donation({ transactionId }, { paymentGatewayNonce })
        const answers = await Promise.all([0, 1, 0, 1].map((n) => post(body, { api: apis[n] })))
        expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, answers[0]?.text).toBe(1)
        const { rowCount } = await store.db.query(
          `select from sandbox_charge c join donation d using (reference) where d.transaction_id = $1`,
          [transactionId],
        )
        expect(rowCount).toBe(1)
      }
      await booksAgree()
    })

    it('completes, by the worker, what was charged by a process that was killed before it could answer', async () => {
      const [doomed, ...others] = [await installation.serve('api'), ...apis]
      const transactionId = randomUUID()
      const body = donation({ transactionId }, { paymentGatewayNonce: 'fake-timeout-after-nonce' })
      const answer = post(body, { api: doomed }).catch(() => undefined)
      const found = async (text: string) => (await store.db.query(text, [transactionId])).rowCount > 0
      const join = 'select from donation d join sandbox_charge c using (reference) where d.transaction_id = $1'
      while (!(await found(join))) await sleep(20)
      doomed?.kill('SIGKILL')
      expect(await answer).toBeUndefined()
      await doomed?.ended
      expect(await found(`${join} and d.status = 'received'`)).toBe(true)
      // The time in which its charge might still have been under way.
      await store.db.query(`update donation set lease_until = now() where transaction_id = $1`, [transactionId])
      const worker = await installation.serve('worker')
      while (!(await found(`${join} and d.status = 'settled'`))) await sleep(50)
      const told = await post(body, { api: others[0] })
      expect(told.status).toBe(200)
      await booksAgree()
      worker.kill('SIGTERM')
      expect(await worker.ended).toBe(0)
      expect(worker.output()).toContain('"settled":1')
      expect(worker.output()).not.toMatch(/lina@|Okoro/)
    })

    it('keeps a card number in no row, no line of a log and no key of the queue', async () => {
      const xml = donationXml.replace('<firstname>', `<creditCardNumber>${cardNumber}</creditCardNumber><firstname>`)
      const named = donationXml.replace('Okoro', cardNumber)
      const v1 = { operation: 'donations', type: 'xml' }
      const statuses = [
        await post(xml, v1),
        await post(xml, { ...v1, more: '&is_test=true' }),
        await post(named, { ...v1, more: '&is_test=true' }),
        await post(donation({}, { creditCardNumber: cardNumber }), { operation: 'donations' }),
        await post(donation({}, { creditCardNumber: cardNumber })),
        await post(donation({}, { firstname: cardNumber })),
        await post(donation({ card: cardNumber })),
        await post(donation({}), { more: `&creditCardNumber=${cardNumber}&q=${cardNumber}` }),
      ].map(({ status }) => status)
      expect(statuses).toEqual([400, 400, 400, 400, 400, 400, 400, 200])
      expect(await everyRow(store.db)).not.toContain(cardNumber)
      expect(apis.map((api) => api.output()).join('')).toContain('"url":"/api/secure/givingservice/donationsclient?')
      expect(apis.map((api) => api.output()).join('')).not.toContain(cardNumber)
      if (!redis) return
      const keys = await everyKey(redis.url)
      expect(keys).toContain('settlement')
      expect(keys).not.toContain(cardNumber)
    })

    it('refunds, erases donors, imports payouts and proves the books on the command line', async () => {
      const [email, transactionId] = ['Findme@example.org', randomUUID()]
      expect((await post(donation({ email, transactionId, amount: 60 }, { lastname: 'Findmeson' }))).status).toBe(200)
      const id = await idOf(transactionId)
      expect((await giving('donations', 'refund', id, '--amount', '10')).code).toBe(0)
      expect((await giving('donations', 'refund', id, '--amount', '50.01')).code).toBe(2)
      const shown = await giving('donations', 'show', id)
      expect(shown.result).toMatchObject({
        donation: { status: 'refunded', refunded: '10.000', fee: '3.000' },
        events: [{ kind: 'received' }, { kind: 'settled' }, { kind: 'refunded' }],
        donorKnown: true,
      })
      expect((await giving('donations', 'show', '999999')).code).toBe(2)

      const before = await booksAgree()
      expect(await everyRow(store.db), 'what is known of a donor is encrypted').not.toMatch(/findme/i)
      expect((await giving('donors', 'show', '--email', 'FINDME@example.org')).code).toBe(0)
      expect(await giving('donors', 'erase', '--email', 'findme@EXAMPLE.org')).toMatchObject({ code: 0 })
      expect((await giving('donors', 'erase', '--email', 'findme@example.org')).code).toBe(1)
      expect(await booksAgree()).toEqual(before)
      expect(await everyRow(store.db)).not.toMatch(/findme/i)
      expect(apis.map((api) => api.output()).join('')).not.toMatch(/findme/i)
      if (redis) expect(await everyKey(redis.url)).not.toMatch(/findme/i)

      const file = path.join(installation.dataDir, 'payouts.csv')
      await writeFile(
        file,
        'project,date,amount,currency,reference\n2045,2026-01-15,100.00,USD,P-1\n2045,2999-01-01,1,USD,P-2\n',
      )
      const outcome = { lines: 2, created: 1, known: 0, refused: 1 }
      expect(await giving('disbursements', 'import', file)).toMatchObject({ code: 1, result: outcome })
      expect(await giving('disbursements', 'import', file)).toMatchObject({ code: 1, result: { created: 0, known: 1 } })
      expect((await booksAgree()).balances).toMatchObject([{ currency: 'USD', disbursed: '100.000' }])

      await store.db.query('update project set funding = funding + 1 where id = 2045')
      const differs = await installation.run(['books', 'check'])
      expect(differs.code).toBe(1)
      expect(differs.stdout).toMatch(/funding of the project is the sum of its months: project 2045: expected/)
      await store.db.query('update project set funding = funding - 1 where id = 2045')
    })
  })
}
