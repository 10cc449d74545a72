import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createSandboxGateway } from '../../../../src/money/gateways/sandbox/sandbox-gateway.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { removeTestDonations } from '../../../../src/money/sql/test-donations.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { commandStore } from '../../../support/commands/command-store.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  quick,
  testPayments,
} from '../../../support/money/donations.js'
import { testDatabase } from '../../../support/store/database.js'
import { everyRow } from '../../../support/store/every-row.js'

it('donations of a sandbox leave the books as if they had never been there; those of a processor stay', async () => {
  const { store } = await testDatabase()
  const sandbox = testPayments(store)
  const processor = { ...sandbox, gateway: { ...quick(createSandboxGateway(sandbox)), name: 'processor' } }
  const keyId = await insertDonationTargets(store.db, [7, 8])
  const give = async (payments: typeof sandbox, project: number, amount: number, lastname = 'Okoro') => {
    const request = donationRequest({ project: { id: project }, amount }, { lastname })
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
    const { rows } = await store.db.query<{ id: number }>('select max(id) as id from donation')
    return rows[0]?.id ?? 0
  }
  const refund = async (payments: typeof sandbox, donationId: number, amount?: string) =>
    await refundDonation(payments, { donationId, kind: 'refund', amount: amount as never })
  const books = async () => {
    const months = await store.db.query(
      `select project_id, month::text, kind, amount, count, itemised from donation_month order by 1, 2, 3`,
    )
    const totals = await store.db.query('select id, funding, number_of_donations, remaining from project order by id')
    return { months: months.rows, totals: totals.rows }
  }
  await refund(processor, await give(processor, 7, 90), '30')
  const before = await books()
  await refund(sandbox, await give(sandbox, 7, 41, 'Findmeson'), '11')
  const wholly = await give(sandbox, 7, 43)
  await refund(sandbox, wholly, '3')
  await refund(sandbox, wholly)
  await give(sandbox, 8, 47)
  expect(await books()).not.toEqual(before)
  expect(await store.transaction(removeTestDonations)).toBe(3)
  expect(await books()).toEqual(before)
  expect(await everyRow(store.db)).not.toContain('Findmeson')
  const { rows } = await store.db.query('select gateway from donation where reference is not null')
  expect(rows).toEqual([{ gateway: 'processor' }])
  await store.db.query('delete from sandbox_refund')
  await store.db.query('delete from sandbox_charge')
  expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  expect(await store.transaction(removeTestDonations)).toBe(0)
})

it('donations of a sandbox are looked for without reading those of a processor', async () => {
  const { store } = await testDatabase()
  await insertDonationTargets(store.db, [7])
  await store.db.query(
    `insert into donation (project_id, amount, currency, settled_at, source, gateway)
      select 7, 25, 'USD', now(), 'local', 'braintree' from generate_series(1, 5000)`,
  )
  await store.db.query('vacuum analyze donation')
  const { rows } = await store.db.query<{ 'QUERY PLAN': string }>(
    `explain select id from donation d where d.gateway like '%sandbox' order by id for update`,
  )
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('using donation_test')
})

it('a publication under a real publisher has no amount of a sandbox, and status says that no donations are taken', async () => {
  const ours = await commandStore({ REPORTING_ORG_REF: 'US-EIN-123456789' })
  const { store } = ours
  const keyId = await insertDonationTargets(store.db, [7])
  const request = donationRequest({ project: { id: 7 }, amount: 12_345 })
  await submitDonation(testPayments(store), { account, keyId, requestId: randomUUID() }, request)
  expect((await ours.run('publish --inline')).code).toBe(0)
  const xml = await ours.read('/iati/activities.xml')
  expect(xml).toContain('US-EIN-123456789-7')
  expect(xml).not.toMatch(/12345\.|13595\./)
  expect((await ours.run('status')).stdout).toContain(
    'note: no donations are taken: PAYMENT_GATEWAY is a sandbox, which moves no money, and REPORTING_ORG_REF is a real ' +
      "publisher; DONOR_KEYS is not set, so donors' data cannot be encrypted\n",
  )
})
