import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { QueueConnection } from '../../../../jobs/engine.js'
import { openQueue, queueSettings } from '../../../../jobs/queue.js'
import { settlement } from '../../../../jobs/settlement.js'
import { startWorker } from '../../../../jobs/worker.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { account, donationRequest, insertDonationTargets, testPayments } from '../../../support/money/donations.js'
import { workerDeps } from '../../../support/processes/jobs/world.js'
import { someOf } from '../../../support/runner/some-of.js'
import { redisMissing, startRedis } from '../../../support/servers/redis.js'
import { testDatabase } from '../../../support/store/database.js'

const noRedis = redisMissing()
if (noRedis !== undefined) console.warn(`The settlement's jobs on Redis are not tested: ${noRedis}.`)

it('the settlement is due at each minute', async () => {
  const { store, url } = await testDatabase()
  const deps = workerDeps(store, { url, connection: { kind: 'postgres', url } }, pino({ level: 'silent' }))
  await using _worker = await startWorker({ ...deps, payments: testPayments(store), work: [settlement] })
  await using queue = await openQueue(queueSettings({ config: deps.config, databaseUrl: url }), deps.log)
  expect(await queue.schedulers(['settlement'])).toMatchObject([
    { name: 'settlement', schedule: { expression: '* * * * *', timezone: 'UTC' }, next: expect.any(Date) },
  ])
})

describe.each(someOf(noRedis === undefined ? ['postgres', 'redis'] : ['postgres'], 2))(
  'the settlement as a job of the queue in %s',
  async (engine) => {
    const { store, url } = await testDatabase()

    it('completes what is open in every round, of any worker, and names nobody', async () => {
      const redis = engine === 'redis' ? await startRedis() : undefined
      onTestFinished(async () => await redis?.stop())
      const connection: QueueConnection = redis
        ? { kind: 'redis', url: redis.url, prefix: 'test' }
        : { kind: 'postgres', url }
      const lines: string[] = []
      const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
      const payments = testPayments(store, { timeoutMs: 3000 })
      const keyId = await insertDonationTargets(store.db, [2045])
      const everySecond = () => ({ settlement: { expression: '* * * * * *', timezone: 'UTC' } })
      const deps = { ...workerDeps(store, { url, connection }, log), payments }
      const start = () => startWorker({ ...deps, work: [{ ...settlement, schedules: everySecond }] })
      await using _one = await start()
      await using _two = await start()
      for (const round of [1, 2]) {
        const request = donationRequest({}, { paymentGatewayNonce: 'fake-timeout-after-nonce' })
        const outcome = submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
        await expect(outcome).rejects.toMatchObject({ code: 'payment-pending' })
        const settled = async () =>
          (await store.db.query(`select from donation where status = 'settled' and source = 'local'`)).rowCount
        while ((await settled()) < round) await sleep(50)
      }
      const { rows } = await store.db.query('select funding, number_of_donations as n from project where id = 2045')
      expect(rows).toEqual([{ funding: '1330.000', n: 39 }])
      // The round ends, and says so, after the donation was settled.
      await expect.poll(() => lines.join('')).toContain('open payments were looked up')
      expect(lines.join('')).not.toMatch(/lina@|Okoro|fake-timeout/)
    })
  },
)
