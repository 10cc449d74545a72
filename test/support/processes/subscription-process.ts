import { openStore } from '../../../src/platform/database/store.js'
import { mailSubscribers } from '../release/mail-subscribers.js'

// Mails subscribers what is due, until it is killed: DATABASE FEEDS SMTP_URL.
const [url = '', feedsDir = '', smtpUrl = ''] = process.argv.slice(2)
await using store = openStore({ url, max: 2, applicationName: 'subscription process' })
await mailSubscribers({ store, feedsDir, smtpUrl })
