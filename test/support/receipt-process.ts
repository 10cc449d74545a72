import { loadReceiptTemplate, mailDueReceipts } from '../../src/mail/mail-receipts.js'
import { SmtpSender } from '../../src/mail/smtp.js'
import { openStore } from '../../src/store/store.js'
import { testDonors } from './donations.js'

// Mails what is due, until it is killed: DATABASE SMTP_URL.
const [url = '', smtpUrl = ''] = process.argv.slice(2)
await using store = openStore({ url, max: 2, applicationName: 'receipt process' })
await mailDueReceipts(
  {
    store,
    donors: testDonors,
    sender: new SmtpSender(smtpUrl, 'receipts@giving.example'),
    template: await loadReceiptTemplate({ language: 'en', operatorsDir: undefined }),
    language: 'en',
    platform: 'Giving Platform',
    clock: () => new Date(),
    warn: () => undefined,
  },
  new AbortController().signal,
)
