import { mailDueReceipts } from '../../../src/money/receipts/mail-receipts.js'
import { openStore } from '../../../src/platform/database/store.js'
import type { Mailed } from '../../../src/platform/mail/mailing.js'
import { SmtpSender } from '../../../src/platform/mail/smtp.js'
import { testDonors } from './donations.js'

/** Mails what is due, over connections of its own. */
export async function mailReceipts(databaseUrl: string, smtpUrl: string): Promise<Mailed> {
  await using store = openStore({ url: databaseUrl, max: 2, applicationName: 'receipt process' })
  const mailing = {
    store,
    donors: testDonors,
    sender: new SmtpSender(smtpUrl, 'receipts@giving.example'),
    choice: { language: 'en', operatorsDir: undefined },
    platform: 'Giving Platform',
    baseUrl: 'https://giving.example',
    clock: () => new Date(),
    warn: () => undefined,
  }
  return await mailDueReceipts(mailing, new AbortController().signal)
}
