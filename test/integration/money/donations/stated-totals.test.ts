import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { importFiles } from '../../../../src/catalogue/import/import.js'
import { projectGraphs } from '../../../../src/catalogue/sql/project-graphs.js'
import { projectTexts } from '../../../../src/catalogue/wire/write/project.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import type { RecordSource } from '../../../../src/kernel/record.js'
import { refundDonation } from '../../../../src/money/refund-donation.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { account, donationRequest, insertDonationTargets, testPayments, usd } from '../../../support/money/donations.js'
import { coreFiles, testPublisher } from '../../../support/release/publishing.js'
import { testDatabase } from '../../../support/store/database.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

// A story: each test goes on from where the one before it has left the store.
const story = async (source: RecordSource) => {
  const { store } = await testDatabase()
  const publisher = await testPublisher(store, { ...coreFiles, maxLossPercent: 100 })
  const time = { now: new Date('2026-10-05T08:00:00Z') }
  const payments = testPayments(store, { clock: () => time.now })
  const folder = await temporaryFolder()
  let keyId = 0

  beforeAll(async () => {
    keyId = await insertDonationTargets(store.db, [])
    await record({ funding: '1250.00', numberOfDonations: 37, modifiedDate: '2026-09-12T06:00:00+00:00' })
  })

  const record = async (fields: object) => {
    const project = { id: 7, active: true, status: 'active', title: 'Wells', goal: '2000.00', ...fields }
    const file = path.join(folder, `${randomUUID()}.json`)
    await writeFile(file, JSON.stringify({ projects: { project: [project] } }))
    const summary = await importFiles(store, [file], { source, clock: () => time.now, currency: usd })
    expect(summary).toMatchObject({ refused: 0 })
  }
  const donate = async (amount: string) => {
    const request = donationRequest({ project: { id: 7 }, amount })
    return await submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
  }
  const shown = async () =>
    (await store.db.query('select funding, remaining, number_of_donations as n from project where id = 7')).rows[0]
  const agree = async () => expect(await store.snapshot((db) => listDifferences(db, 10))).toEqual([])
  const publish = async () => {
    publisher.now = time.now
    expect(await publisher.publish()).toMatchObject({ state: 'published' })
    const text = await publisher.read('/iati/activities.xml')
    return [...text.matchAll(/<transaction ref="([^"]+)">.*?<value [^>]*>([^<]+)<\/value>/gs)].map(
      ([, ref, value]) => `${ref} ${value}`,
    )
  }

  it('stay in its total when its record comes again, count on top of what it says later, and leave it when given back', async () => {
    expect((await donate('40.00')).totals).toMatchObject({ funding: '1290.000', numberOfDonations: 38 })
    await record({ funding: '1250.00', numberOfDonations: 37, modifiedDate: '2026-09-12T06:00:00+00:00' })
    expect(await shown()).toEqual({ funding: '1290.000', remaining: '710.000', n: 38 })
    await record({ funding: '1250.00', numberOfDonations: 37, title: 'Four wells' })
    expect(await shown()).toEqual({ funding: '1290.000', remaining: '710.000', n: 38 })
    await agree()
    expect(await publish()).toEqual([
      `open-7-2026-09-12-${source}-USD 1250.00`,
      'don-7-2026-10-USD 40.00',
      'fee-7-2026-10-USD 2.00',
    ])

    // The record says more, and then less.
    time.now = new Date('2026-11-20T08:00:00Z')
    await record({ funding: '1300.00', numberOfDonations: 39 })
    expect(await shown()).toEqual({ funding: '1340.000', remaining: '660.000', n: 40 })
    await donate('10.00')
    await record({ funding: '1280.00', numberOfDonations: 38, remaining: '720.00' })
    expect(await shown()).toEqual({ funding: '1330.000', remaining: '670.000', n: 40 })
    await agree()
    expect(await publish()).toEqual(
      expect.arrayContaining(['don-7-2026-11-USD 60.00', 'ref-7-2026-11-USD -20.00', 'don-7-2026-10-USD 40.00']),
    )

    // The first is given back.
    const { rows } = await store.db.query<{ id: number }>('select id from donation where amount = 40')
    const refund = { donationId: rows[0]?.id ?? 0, kind: 'refund', amount: undefined as Decimal | undefined } as const
    await refundDonation(payments, refund)
    await record({ funding: '1990.00', numberOfDonations: 60 })
    expect(await shown()).toEqual({ funding: '2000.000', remaining: '0.000', n: 61 })
    await record({ funding: '2100.00', numberOfDonations: 61 })
    expect(await shown()).toEqual({ funding: '2110.000', remaining: '0.000', n: 62 })
    await agree()
    await publish()
  })

  it.each([
    ['more money of fewer donations', '2150.00', 58],
    ['less money of more donations', '2140.00', 64],
    ['the same money of fewer donations', '2140.00', 63],
    ['the same money of more donations', '2140.00', 65],
    ['the money and donations of before', '2100.00', 61],
  ])('and a record with %s leave no difference in the books', async (_what, funding, numberOfDonations) => {
    await record({ funding, numberOfDonations })
    expect(await shown()).toMatchObject({ n: numberOfDonations + 1 })
    await agree()
    expect((await publisher.publish()).state).toMatch(/^(published|unchanged)$/)
  })

  it('move the date of its last change, as a refund does, whatever date its record states', async () => {
    const at = (hour: string) => `2026-12-01T${hour}:00+00:00`
    const totals = { funding: '2100.00', numberOfDonations: 61 }
    const modifiedDate = async () => {
      const [graph] = await projectGraphs(store.db, [7])
      return graph && JSON.parse(projectTexts(graph).json).modifiedDate
    }
    time.now = new Date(at('07:00'))
    await record({ ...totals, modifiedDate: at('06:00') })
    expect(await modifiedDate()).toBe(at('06:00'))
    time.now = new Date(at('08:00'))
    await donate('15.00')
    expect(await modifiedDate()).toBe(at('08:00'))
    time.now = new Date(at('09:00'))
    const { rows } = await store.db.query<{ id: number }>('select id from donation where amount = 15')
    await refundDonation(payments, { donationId: rows[0]?.id ?? 0, kind: 'refund', amount: undefined })
    expect(await modifiedDate()).toBe(at('09:00'))
    await record({ ...totals, modifiedDate: at('08:30') })
    expect(await modifiedDate()).toBe(at('09:00'))
    await record({ ...totals, modifiedDate: at('09:30') })
    expect(await modifiedDate()).toBe(at('09:30'))
  })
}

describe('donations made here to a project of an import', { shuffle: false }, () => story('import'))
describe('donations made here to a project of an upstream', { shuffle: false }, () => story('upstream'))
