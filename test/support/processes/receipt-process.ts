import { mailReceipts } from '../money/mail-receipts.js'

// Mails what is due, until it is killed: DATABASE SMTP_URL.
const [url = '', smtpUrl = ''] = process.argv.slice(2)
await mailReceipts(url, smtpUrl)
