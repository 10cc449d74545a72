import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { resetDemo, seedDemo } from '../../../../src/demo/sql/demo.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'
import { firstDemoId } from '../../../../src/kernel/demo-publisher.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { account, donationRequest, insertDonationTargets, testPayments, usd } from '../../../support/money/donations.js'
import { testDatabase } from '../../../support/store/database.js'
import { everyRow } from '../../../support/store/every-row.js'

it('donations to demo projects go with them, and leave books that agree', async () => {
  const { store } = await testDatabase()
  const payments = testPayments(store)
  const day = '2026-11-21' as IsoDate
  await seedDemo(store, { today: day, currency: usd, baseUrl: 'https://giving.example' })
  const keyId = await insertDonationTargets(store.db, [7])
  const { rows } = await store.db.query<{ id: number }>(
    'select id from project where id >= $1 and active and not paused order by id limit 1',
    [firstDemoId],
  )
  for (const id of [rows[0]?.id, 7]) {
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, donationRequest({ project: { id } }))
  }
  const made = await store.db.query<{ id: number; reference: string }>(
    `select id, reference from donation where reference is not null order by id`,
  )
  await refundDonation(payments, { donationId: made.rows[0]?.id ?? 0, kind: 'refund', amount: undefined })
  const agree = async () => expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  await agree()
  await resetDemo(store)
  await agree()
  const left = await everyRow(store.db)
  expect(left).not.toContain(made.rows[0]?.reference)
  expect(left).toContain(made.rows[1]?.reference)
})

it('demo data leaves every trigger as it was', async () => {
  const { store } = await testDatabase()
  const triggers = () => store.db.query('select tgrelid, tgname, tgenabled from pg_trigger order by 1, 2')
  const before = await triggers()
  await seedDemo(store, { today: '2026-11-21' as IsoDate, currency: usd, baseUrl: 'https://giving.example' })
  expect((await triggers()).rows).toEqual(before.rows)
})
