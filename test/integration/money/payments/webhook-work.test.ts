import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { afterAll, describe, expect, it } from 'vitest'
import { webhooks } from '../../../../jobs/webhooks.js'
import { startWorker } from '../../../../jobs/worker.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { createMetrics } from '../../../../src/platform/observability/metrics.js'
import { pruneDatabase } from '../../../../src/release/sql/pruning.js'
import { testApi } from '../../../support/api/api.js'
import { runCommandLine } from '../../../support/commands/command-line.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  newestDonation,
  quick,
  testPayments,
} from '../../../support/money/donations.js'
import { processors, timeoutMs } from '../../../support/money/processors.js'
import { type Happening, stripeDelivery } from '../../../support/money/webhook-deliveries.js'
import { workerDeps } from '../../../support/processes/jobs/world.js'
import { toCents } from '../../../support/servers/processor-server.js'
import { stripeKeys } from '../../../support/servers/stripe-server.js'
import { testDatabase } from '../../../support/store/database.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

describe('webhooks at work', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  const [processor, real] = await processors.stripe()
  const { ledger, address } = processor
  const gateway = quick(real)
  const clock = () => new Date()
  const payments = testPayments(store, { gateway, timeoutMs, clock })
  const metrics = createMetrics({
    shared: () => Promise.reject(new Error('not asked')),
    live: async () => undefined,
    onError: () => undefined,
  })
  const { app } = await testApi(store, { payments, clock, metrics })
  const folder = await temporaryFolder()
  const secretFile = path.join(folder, 'secret')
  const keyId = await insertDonationTargets(store.db, [2045])
  await writeFile(secretFile, `${stripeKeys.webhookSecret}\n`)
  afterAll(async () => {
    await processor.close()
  })

  const donate = async () => {
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, donationRequest())
    const { id, reference } = await newestDonation(store.db)
    return { id, reference, charge: ledger.only(reference) }
  }
  const send = async (what: Happening, charge: Parameters<typeof stripeDelivery>[1], secret?: string) => {
    const { headers, payload } = stripeDelivery(what, charge, { at: clock(), ...(secret !== undefined && { secret }) })
    return (await app.inject({ method: 'POST', url: '/api/public/payments/stripe', payload, headers })).statusCode
  }
  const run = async (...args: string[]) =>
    await runCommandLine(args, {
      ...{ DATABASE_URL: url, DATA_DIR: folder, LOG_LEVEL: 'silent', PAYMENT_TIMEOUT_SECONDS: '2' },
      ...{ PAYMENT_GATEWAY: 'stripe', STRIPE_SECRET_KEY: stripeKeys.secretKey },
      ...{ STRIPE_PUBLISHABLE_KEY: stripeKeys.publishableKey, STRIPE_WEBHOOK_SECRET_FILE: secretFile },
      ...{ PAYMENT_GATEWAY_URL: `https://${address.host}:${address.port}`, PAYMENT_GATEWAY_CA_FILE: address.caFile },
    })

  it('are handled by a job, and name nobody', async () => {
    const { reference, charge } = await donate()
    ledger.refundInConsole(reference, '40')
    expect(await send('refunded', charge)).toBe(200)
    expect(await metrics.text()).toContain('giving_webhooks_total{outcome="stored"} 1')
    const lines: string[] = []
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
    const everySecond = () => ({ webhooks: { expression: '* * * * * *', timezone: 'UTC' } })
    const deps = { ...workerDeps(store, { url, connection: { kind: 'postgres', url } }, log), payments }
    await using _worker = await startWorker({ ...deps, work: [{ ...webhooks, schedules: everySecond }] })
    const open = async () => (await store.db.query(`select from webhook_event where state = 'due'`)).rowCount
    while ((await open()) > 0) await sleep(50)
    const { rows } = await store.db.query('select funding, number_of_donations as n from project where id = 2045')
    expect(rows).toEqual([{ funding: '1250.000', n: 37 }])
    // The job ends, and says so, after the event was handled.
    await expect.poll(() => lines.join('')).toContain('"done":1,"later":0,"failed":0,"msg":"webhooks were handled"')
    expect(lines.join('')).not.toMatch(/lina@|Okoro|Xanthippe|whsec_/)
  })

  it('are counted, refused ones too', async () => {
    const { charge } = await donate()
    await send('other', charge)
    await send('settled', charge, 'whsec_another')
    const text = await metrics.text()
    for (const outcome of ['ignored', 'refused']) {
      expect(text).toContain(`giving_webhooks_total{outcome="${outcome}"} 1`)
    }
  })

  it('and what they leave to a person are shown by commands, until it is dealt with', async () => {
    const { id, charge, reference } = await donate()
    expect(await run('payments', 'follow', `${id}`)).toMatchObject({
      code: 0,
      stdout: `charge ${charge.id}: corrected\n`,
    })
    charge.amount = toCents('41')
    ledger.dispute(reference)
    const followed = await run('payments', 'follow', `${id}`)
    expect(followed).toMatchObject({ code: 1, stdout: `charge ${charge.id}: differs\n` })
    const difference = 'the processor charged 41.00 USD, the books say 40.00 USD'
    const before = await run('status')
    expect(before.code).toBe(1)
    expect(before.stdout).toContain(`donation ${id} is disputed: answer in the console of the payment processor`)
    expect(before.stdout).toContain(`donation ${id} differs: ${difference}; then run giving payments follow ${id}`)
    const accepted = await run('payments', 'follow', `${id}`, '--accept')
    expect(accepted).toMatchObject({ code: 0, stdout: `charge ${charge.id}: differs; accepted: ${difference}\n` })
    const after = await run('status')
    expect(after.stdout).toContain(`donation ${id} is disputed`)
    expect(after.stdout).not.toContain('differs')
    expect(after.stdout).not.toContain('STRIPE_WEBHOOK_SECRET')
    charge.amount = toCents('42')
    await run('payments', 'follow', `${id}`)
    expect((await run('status')).stdout).toContain('charged 42.00 USD')
    const { rows } = await store.db.query(
      `select subject, details from audit_event where action = 'difference-accepted'`,
    )
    expect(rows).toEqual([{ subject: `donation ${id}`, details: { difference } }])
    const shown = await run('donations', 'show', `${id}`)
    expect(shown.stdout).toMatch(/confirmed[\s\S]*disputed +\{.*"status":"open"/)
  })

  it('are kept for 90 days, and longer while nobody has dealt with them', async () => {
    const [first, second] = [await donate(), await donate()]
    for (const { charge } of [first, second]) expect(await send('settled', charge)).toBe(200)
    expect(await run('payments', 'follow', '--charge', first.charge.id)).toMatchObject({ code: 0 })
    const { rows } = await store.db.query<{ at: Date }>('select max(received_at) as at from webhook_event')
    const left = async (days: number) => {
      await pruneDatabase(store.db, new Date((rows[0]?.at.getTime() ?? 0) + days * 86_400_000), {
        ...{ keepReleases: 3, donorRetentionDays: undefined },
      })
      const events = await store.db.query<{ charge: string }>(
        'select charge_id as charge from webhook_event where charge_id = any ($1) order by id',
        [[first.charge.id, second.charge.id]],
      )
      return events.rows.map(({ charge }) => charge)
    }
    expect(await left(89.9)).toEqual([first.charge.id, second.charge.id])
    expect(await left(90.1)).toEqual([second.charge.id])
    await run('payments', 'follow', '--charge', second.charge.id)
  })

  it('are listed, and a charge is followed by its own id', async () => {
    const { charge } = await donate()
    await send('settled', charge)
    expect((await run('payments', 'webhooks', '--state', 'due')).stdout).toMatch(
      new RegExp(`^\\S+Z  payment_intent\\.succeeded  ${charge.id}  due\\n$`),
    )
    expect(await run('payments', 'follow', '--charge', charge.id)).toMatchObject({ code: 0 })
    expect((await run('payments', 'webhooks', '--state', 'due')).stdout).toBe('no webhooks\n')
    expect((await run('payments', 'webhooks', '--json')).stdout).toContain('"outcome":"corrected"')
    expect(await run('payments', 'follow', '--charge', 'pi_never')).toMatchObject({ code: 1 })
    for (const wrong of [[], ['1', '--charge', 'pi_1'], ['--charge', 'pi_1', '--accept'], ['99999']]) {
      expect((await run('payments', 'follow', ...wrong)).code).toBe(2)
    }
  })
})
