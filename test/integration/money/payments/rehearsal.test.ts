import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { getAccountId, recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { type AnswerError, createClient } from '../../../../src/client/client.js'
import { createSandboxGateway } from '../../../../src/money/gateways/sandbox/sandbox-gateway.js'
import { createSandboxTime } from '../../../../src/money/gateways/sandbox/sandbox-settings.js'
import { usualLimits } from '../../../../src/money/payments.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { listen, testApi, testUser } from '../../../support/api/api.js'
import { runCommandLine } from '../../../support/commands/command-line.js'
import { donationFields, insertDonationTargets, quick, testPayments, usd } from '../../../support/money/donations.js'
import { inOrder } from '../../../support/runner/in-order.js'
import { testDatabase } from '../../../support/store/database.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

describe('a rehearsal with the sandbox', inOrder, async () => {
  const { store, url } = await testDatabase()
  const time = createSandboxTime(store, () => new Date())
  const gateway = quick(
    createSandboxGateway({ ...{ store, clock: time.clock, currency: usd }, baseUrl: async () => base }),
  )
  const limits = { USD: usualLimits, JPY: usualLimits, BHD: usualLimits }
  const payments = testPayments(store, {
    ...{ gateway, clock: time.clock, limits, rehearsal: time },
    closedBecause: async () => void (await time.refresh()),
  })
  const api = await testApi(store, { payments, clock: () => new Date() })
  await insertDonationTargets(store.db, [2045])
  await recordGrant(store.db, await getAccountId(store.db, testUser.email), 'donations', new Date())
  const base: string = await listen(api.app)
  const client = createClient({ url: base, apiKey: api.apiKey, user: { ...testUser } })
  const dataDir = await temporaryFolder()

  const giving = async (...args: readonly string[]) =>
    await runCommandLine(args, { GIVING_DATA_DIR: dataDir, DATABASE_URL: url, LOG_LEVEL: 'silent' })
  const done = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await giving(...args)
    expect(code, stdout + stderr).toBe(0)
    return stdout
  }
  const send = async (nonce: string, changes: Record<string, unknown> = {}) => {
    const donation = donationFields(changes, { paymentGateway: 'sandbox', paymentGatewayNonce: nonce })
    return (await client.post('/api/secure/givingservice/donationsclient', { body: { donation } })).donation
  }
  const failure = async (sent: Promise<unknown>) => (await sent.catch((error: unknown) => error)) as AnswerError
  const newest = async () => {
    const { rows } = await store.db.query<{ id: number; status: string; amount: string; settledAmount?: string }>(
      'select id, status, amount, settled_amount from donation order by id desc limit 1',
    )
    if (!rows[0]) throw new Error('there is no donation')
    return rows[0]
  }
  const agrees = async () => expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])

  it('keeps a debit pending for five days, then pays it or sends it back', async () => {
    expect(await send('fake-debit-nonce')).toMatchObject({ checkedOut: false, status: 'pending' })
    const paid = await newest()
    await send('fake-debit-returned-nonce')
    expect(await done('sandbox', 'advance', '4d')).not.toMatch(/settled|declined/)
    expect((await giving('donations', 'refund', String(paid.id))).code).not.toBe(0)
    const steps = await done('sandbox', 'advance', '2d')
    expect(steps).toMatch(new RegExp(`donation ${paid.id} {2}40\\.00 USD {2}settled`))
    expect(steps).toMatch(/declined/)
    await agrees()
  })

  it.each([
    ['JPY', '0.0067', 5000, '33.50'],
    ['BHD', '2.65', '12.345', '32.71'],
  ])('settles %s after two minutes at the rate that was set', async (currency, rate, amount, settled) => {
    await done('sandbox', 'rate', currency, rate)
    expect(await send('fake-valid-nonce', { currencyCode: currency, amount })).toMatchObject({ status: 'pending' })
    await done('sandbox', 'advance', '1m')
    expect((await newest()).status).toBe('received')
    await done('sandbox', 'advance', '1m')
    const { status, settledAmount } = await newest()
    expect([status, Number(settledAmount)]).toEqual(['settled', Number(settled)])
    await agrees()
  })

  it('asks the donor, who may refuse, once', async () => {
    const transactionId = randomUUID()
    const { requiresAction } = await failure(send('fake-confirm-nonce', { transactionId }))
    const address = requiresAction?.clientSecret ?? ''
    expect(address).toMatch(/^http.*\/sandbox\/[0-9a-f]{32}$/)
    const answer = async (how: string) => {
      const { status, headers } = await fetch(`${address}/${how}`, { method: 'POST' })
      expect(headers.get('cache-control')).toBe('no-store')
      return status
    }
    expect(await answer('later')).toBe(200)
    expect((await newest()).status).toBe('received')
    expect(await answer('refuse')).toBe(200)
    expect((await newest()).status).toBe('declined')
    // Whoever answers once more changes nothing.
    expect(await answer('confirm')).toBe(200)
    const again = await failure(send('fake-confirm-nonce', { transactionId }))
    expect(again.entries[0]).toMatchObject({ error_number: 2099 })
    expect(again.requiresAction).toBeUndefined()
    expect((await fetch(`${base}/sandbox/${'0'.repeat(32)}`)).status).toBe(404)
    expect((await fetch(`${address}/pay`, { method: 'POST' })).status).toBe(404)
    await agrees()
  })

  it('ends a payment that the donor does not answer for a day', async () => {
    const { requiresAction } = await failure(send('fake-confirm-nonce'))
    const { id } = await newest()
    expect(await done('sandbox', 'advance', '23h')).not.toContain(`donation ${id} `)
    expect(await done('sandbox', 'advance', '2h')).toMatch(new RegExp(`donation ${id} .*failed`))
    expect((await newest()).status).toBe('failed')
    await fetch(`${requiresAction?.clientSecret}/confirm`, { method: 'POST' })
    expect((await newest()).status).toBe('failed')
    await agrees()
  })

  it('speaks the donor’s language', async () => {
    const { requiresAction } = await failure(send('fake-confirm-nonce'))
    const german = await fetch(requiresAction?.clientSecret ?? '', { headers: { 'accept-language': 'de' } })
    expect(await german.text()).toMatch(/<html lang="de">[\s\S]*Es fließt kein Geld[\s\S]*40,00/)
  })

  it('takes a disputed gift out of the books once the dispute is lost', async () => {
    await send('fake-valid-nonce')
    const { id } = await newest()
    expect(await done('sandbox', 'dispute', String(id), 'open')).toContain('is open; books: corrected')
    expect(await done('sandbox', 'dispute', String(id), 'lost')).toContain('is lost; books: corrected')
    expect((await newest()).status).toBe('refunded')
    await agrees()
  })

  it('is no rehearsal under a real publisher', async () => {
    const real = { GIVING_DATA_DIR: dataDir, DATABASE_URL: url, LOG_LEVEL: 'silent', REPORTING_ORG_REF: 'GB-CHC-1' }
    const refused = await runCommandLine(['sandbox', 'advance', '31d'], real)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('expected a rehearsal')])
    const open = await testApi((await testDatabase()).store)
    const page = await open.app.inject({ url: `/sandbox/${'0'.repeat(32)}`, headers: { accept: 'application/json' } })
    expect(page.body).not.toContain('no payment to confirm')
  })
})
