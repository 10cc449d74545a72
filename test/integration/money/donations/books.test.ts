import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { importFiles } from '../../../../src/catalogue/import/import.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import { createSandboxGateway } from '../../../../src/money/gateways/sandbox/sandbox-gateway.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { listBalances, listDifferences } from '../../../../src/money/sql/books-check.js'
import { findDonationHistory } from '../../../../src/money/sql/donations.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import {
  account,
  donationRequest,
  insertDonationTargets,
  quick,
  testPayments,
  usd,
} from '../../../support/money/donations.js'
import { testDatabase } from '../../../support/store/database.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

const amount = (text: string) => text as Decimal

describe('the books', async () => {
  const { store } = await testDatabase()
  const time = { now: new Date('2026-11-21T09:15:30.412Z') }
  const payments = testPayments(store, { clock: () => time.now })
  const folder = await temporaryFolder()

  const keyId = await insertDonationTargets(store.db, [1, 2, 3, 4, 5])

  const donate = async (projectId: number, changes: Record<string, unknown> = {}) => {
    const request = donationRequest({ project: { id: projectId }, ...changes })
    await submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
    const { rows } = await store.db.query<{ id: number }>('select id from donation where transaction_id = $1', [
      request.transactionId,
    ])
    return rows[0]?.id ?? 0
  }
  const months = async (projectId: number) =>
    (
      await store.db.query(
        `select month, kind, amount, count from donation_month where project_id = $1 and source = 'local' order by month, kind`,
        [projectId],
      )
    ).rows
  /** A gift that stays and one that was given back. */
  const giveOnce = async (projectId: number) => {
    if ((await months(projectId)).length > 0) return
    await donate(projectId)
    await refundDonation(payments, { donationId: await donate(projectId), kind: 'refund', amount: undefined })
  }
  const project = async (id: number) =>
    (await store.db.query('select funding, remaining, number_of_donations as n from project where id = $1', [id]))
      .rows[0]
  const differences = () => store.snapshot((db) => listDifferences(db, 10))
  const file = async (text: string) => {
    const name = path.join(folder, `${randomUUID()}.csv`)
    await writeFile(name, text)
    return name
  }
  const importing = (name: string) =>
    importFiles(store, [name], {
      source: 'import',
      kind: 'disbursements',
      clock: () => new Date('2026-11-21T12:00:00Z'),
      currency: usd,
    })
  const importFile = async (text: string) => importing(await file(text))
  const payouts = [
    '\uFEFFreference, date ,project,amount,currency',
    'P-1,2026-11-20,4,100.00,USD',
    'P-2,2026-11-22,4,10,USD',
    'P-3,2026-11-21,999,10,USD',
    'P-4,2026-11-21,4,10.001,USD',
    'P-5,2026-11-21,4,10,EUR',
    'P-6,2026-02-30,4,10,USD',
    ',2026-11-21,4,10,USD',
    'P-7,2026-11-21,4,-5.50,USD',
    'P-1,2026-11-20,4,100,USD',
    'P-1,2026-11-20,4,101,USD',
    '',
  ].join('\r\n')

  it('show a refund as its own negative figure in the month of the refund, with its share of the fee', async () => {
    const givenBack = async (before = '0') =>
      (
        await store.db.query<{ back: string }>(
          'select coalesce(sum(amount), 0) - $1::numeric as back from sandbox_refund',
          [before],
        )
      ).rows[0]?.back
    const before = await givenBack()
    const id = await donate(1, { amount: 40, addon: { amount: 3 } })
    time.now = new Date('2026-12-02T10:00:00Z')
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: amount('10.00') })
    expect(await project(1)).toEqual({ funding: '1280.000', remaining: '6720.000', n: 38 })
    await refundDonation(payments, { donationId: id, kind: 'refund', amount: undefined })
    expect(await project(1)).toEqual({ funding: '1250.000', remaining: '6750.000', n: 37 })
    expect(await months(1)).toEqual([
      { month: '2026-11-01', kind: 'fee', amount: '2.000', count: 1 },
      { month: '2026-11-01', kind: 'gift', amount: '40.000', count: 1 },
      { month: '2026-12-01', kind: 'fee', amount: '-2.000', count: 0 },
      { month: '2026-12-01', kind: 'refund', amount: '-40.000', count: 1 },
    ])
    expect(await givenBack(before)).toBe('43.000')
    const history = await findDonationHistory(store.db, id)
    expect(history?.donation).toMatchObject({ status: 'refunded', refunded: '40.000' })
    expect(history?.events.map(({ kind }) => kind)).toEqual(['received', 'settled', 'refunded', 'refunded'])
    time.now = new Date('2026-11-21T09:15:30.412Z')
  })

  it('book a chargeback without asking the gateway', async () => {
    const id = await donate(2)
    const refunds = async () => (await store.db.query('select from sandbox_refund')).rowCount
    const before = await refunds()
    await refundDonation(payments, { donationId: id, kind: 'chargeback', amount: undefined })
    expect(await refunds()).toBe(before)
    expect(await project(2)).toMatchObject({ funding: '1250.000', n: 37 })
  })

  it('refuse to give back what is not there', async () => {
    const id = await donate(2)
    const refund = (donationId: number, of?: string) =>
      refundDonation(payments, { donationId, kind: 'refund', amount: of === undefined ? undefined : amount(of) })
    await expect(refund(id, '40.01')).rejects.toMatchObject({ code: 'request-invalid' })
    await expect(refund(999_999)).rejects.toMatchObject({ code: 'not-found' })
    await refund(id)
    await expect(refund(id)).rejects.toMatchObject({ code: 'request-invalid' })
  })

  it('are finished by the settlement when a refund was cut off, and once', async () => {
    const id = await donate(3)
    const sandbox = createSandboxGateway(payments)
    const cut = quick({
      ...sandbox,
      refund: async (refund, signal) => {
        await sandbox.refund(refund, signal)
        throw new Error('connection reset')
      },
    })
    const broken = testPayments(store, { gateway: cut })
    await expect(refundDonation(broken, { donationId: id, kind: 'refund', amount: undefined })).rejects.toMatchObject({
      code: 'payment-pending',
    })
    await store.db.query(`update donation_refund set lease_until = now() - interval '1 s'`)
    expect(await settleOpen(payments)).toMatchObject({ refunded: 1 })
    expect(await settleOpen(payments)).toMatchObject({ refunded: 0 })
    expect(await project(3)).toMatchObject({ funding: '1250.000', n: 37 })
  })

  it('take payouts from CSV once, and refuse what is wrong, naming the line', async () => {
    await store.db.query('delete from disbursement')
    const first = await importFile(payouts)
    expect(first).toMatchObject({ records: 10, created: 2, unchanged: 1, refused: 7 })
    expect(first.problems.map(({ line, field }) => `${line} ${field}`)).toEqual([
      '3 date',
      '5 amount',
      '6 settledAmount',
      '7 date',
      '8 reference',
      '4 project',
      // The same on two lines of a file; the second of them has another amount, too.
      '10 reference',
      '11 reference',
      '11 reference',
    ])
    expect(await importFile(payouts)).toMatchObject({ created: 0, unchanged: 3, refused: 7 })
    const { rows } = await store.db.query('select reference, amount, source from disbursement order by reference')
    expect(rows).toEqual([
      { reference: 'P-1', amount: '100.000', source: 'import' },
      { reference: 'P-7', amount: '-5.500', source: 'import' },
    ])
  })

  it.each([
    ['without its columns', 'project,date\n1,2026-01-01'],
    ['with a column twice', 'project,date,amount,Amount,currency,reference\n'],
    ['with a column that nobody knows', 'project,date,amount,currency,reference,remark\n'],
    ['that is empty', ''],
    ['that is not CSV', 'project,date,amount,currency,reference\n"1'],
  ])('refuse a file %s', async (_what, text) => {
    expect(await importFile(text)).toMatchObject({ brokenFiles: 1, records: 0 })
  })

  it('refuse a file that is not there', async () => {
    expect(await importing(path.join(folder, 'no.csv'))).toMatchObject({ brokenFiles: 1 })
  })

  it('agree, and say what is held', async () => {
    await importFile(payouts)
    await giveOnce(5)
    await refundDonation(payments, { donationId: await donate(4), kind: 'refund', amount: undefined })
    expect(await differences()).toEqual([])
    const [balance] = await store.snapshot(listBalances)
    // Five openings of 1250 and a gift of 40; everything else that came since has gone back; 94.50 net were paid out.
    expect(balance).toEqual({
      ...{
        currency: 'USD',
        projects: 5,
        incoming: '6290.000',
        fees: '2.000',
        disbursed: '94.500',
        balance: '6193.500',
      },
    })
  })

  const [funding, count, singles, charged] = [
    'funding of the project is the sum of its months',
    'number of donations to the project is the sum of its months',
    'gifts, refunds and fees of the month are the sum of the donations',
    'the sandbox gateway charged what has settled, and nothing else',
  ]
  it.each<readonly [string, string, readonly string[]]>([
    ['the funding of a project', `update project set funding = funding + 1 where id = 5`, [funding]],
    ['a number of donations', `update project set number_of_donations = number_of_donations + 1 where id = 5`, [count]],
    ['a month', `update donation_month set amount = amount + 1 where project_id = 5 and kind = 'opening'`, [funding]],
    [
      'a month that holds less than its donations',
      `update donation_month set amount = itemised - 1 where project_id = 5 and kind = 'gift'`,
      [funding, 'the month holds at least what single donations explain'],
    ],
    [
      'a month that holds less than its refunds',
      `update donation_month set amount = itemised + 1 where project_id = 5 and kind = 'refund'`,
      [funding, 'the month holds at least what single donations explain'],
    ],
    [
      'what the donations of a month are',
      `update donation_month set itemised = itemised - 1 where project_id = 5 and kind = 'fee'`,
      [singles],
    ],
    ['a donation', `update donation set amount = amount + 1 where project_id = 5`, [singles, charged]],
    [
      'a refund',
      `update donation set refunded = 1 where project_id = 5`,
      ['what was refunded of the donation is the sum of its refunds'],
    ],
    [
      'a lost donation',
      `update donation set settled_at = null, status = 'failed' where project_id = 5 and refunded = 0`,
      [singles, charged],
    ],
    [
      'the gateway’s books',
      `insert into sandbox_charge (reference, amount, currency, charged_at) values ('x', 1, 'USD', now())`,
      [charged],
    ],
    [
      'what the gateway gave back',
      `update sandbox_refund set amount = amount - 1 where reference in (
        select r.reference from donation_refund r join donation d on d.id = r.donation_id where d.project_id = 5)`,
      ['the sandbox gateway gave back what the books say'],
    ],
    [
      'what a gift in another currency came to',
      `update donation set settled_amount = amount + 1, settled_addon = 0, settled_currency = 'USD'
        where project_id = 5 and refunded > 0`,
      [singles, 'a gift in another currency that was given back whole leaves nothing'],
    ],
    [
      'too high a payout',
      `insert into disbursement (project_id, reference, disbursed_on, amount, currency, source)
      values (5, 'too-high', '2026-11-01', 9999, 'USD', 'local')`,
      ['no more is paid out than came in'],
    ],
    [
      'an old open payment',
      `update donation set status = 'received', settled_at = null,
      lease_until = now() - interval '1 hour' where project_id = 5 and refunded = 0`,
      [singles, 'no payment is open for more than ten minutes'],
    ],
  ])('do not agree when %s was tampered with, and say in what', async (_what, tampering, differing) => {
    await giveOnce(5)
    const found = new Set<string>()
    const undo = new Error('undo')
    await store
      .transaction(async (db) => {
        await db.query(tampering)
        for (const { what } of await listDifferences(db, 10)) found.add(what)
        throw undo
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error
      })
    expect([...found]).toEqual(differing)
    expect(await differences()).toEqual([])
  })
})
