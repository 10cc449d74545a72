import { randomUUID } from 'node:crypto'
import { submitDonation } from '../../../../src/money/submit-donation.js'
import { account, donationRequest, insertDonationTargets, testPayments } from '../../../support/money/donations.js'
import { openMailServer, readMail, type TakenMail } from '../../../support/servers/mail-server.js'
import type { TestDatabase } from '../../../support/store/database.js'
import { openPlace, type Trial } from './trial.js'

const receiptsEachRound = 3

/** Three receipts that are due, mailed over SMTP. Nothing is due by a clock that is days behind, so none is tried. */
export async function mailTrial(database: TestDatabase): Promise<Trial> {
  const server = await openMailServer()
  const { store, place, close } = await openPlace(database, {})
  const keyId = await insertDonationTargets(store.db, [2045])
  const payments = testPayments(store, { clock: () => new Date(), mailsReceipts: true })
  const numberOf = (mail: TakenMail) => /^Message-ID: <([^.]+)\./im.exec(readMail(mail).headers)?.[1] ?? 'none'
  const statesOf = async (condition: string) => {
    const { rows } = await store.db.query<{ number: string }>(
      `select receipt_number as number from receipt_mail m join donation d on d.id = m.donation_id where ${condition}`,
    )
    return rows.map(({ number }) => number)
  }
  let inDoubtBefore = 0
  return {
    place,
    kinds: ['error', 'kill'],
    prepare: async () => {
      inDoubtBefore = (await statesOf(inDoubt)).length
      for (let count = 0; count < receiptsEachRound; count++) {
        await submitDonation(payments, { account, keyId, requestId: randomUUID() }, donationRequest())
      }
    },
    act: (processes, fault) => processes.mail(server.url, fault),
    passTime: async () => {
      await store.db.query(`update receipt_mail set next_at = now() - interval '1 second' where state = 'due'`)
    },
    isDone: async () => (await statesOf(`state not in ('sent', 'sending', 'unknown')`)).length === 0,
    wrongAnyTime: async () => {
      const numbers = server.taken.map(numberOf)
      const doubted = (await statesOf(inDoubt)).length - inDoubtBefore
      return [
        ...(numbers.length === new Set(numbers).size ? [] : ['a receipt was mailed twice']),
        ...(doubted > 1 ? [`${doubted} receipts may or may not have been mailed`] : []),
      ]
    },
    wrongWhenDone: async () => {
      const taken = new Set(server.taken.map(numberOf))
      const sent = await statesOf(`state = 'sent'`)
      return sent.filter((number) => !taken.has(number)).map((number) => `receipt ${number} was never mailed`)
    },
    close: async () => {
      await server.close()
      await close()
    },
  }
}

/** That a receipt was handed to the server, and nobody knows whether it was taken. */
const inDoubt = `state in ('sending', 'unknown')`
