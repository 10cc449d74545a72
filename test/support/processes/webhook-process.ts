import { createStripeGateway } from '../../../src/extensions/stripe/stripe-gateway.js'
import { handleDueWebhooks } from '../../../src/money/handle-webhooks.js'
import { openStore } from '../../../src/platform/database/store.js'
import { testPayments } from '../money/donations.js'
import { stripeKeys } from '../servers/stripe-server.js'

// Handles the webhooks that are due, until it is killed: DATABASE HOST PORT CA_FILE.
const [url = '', host = '', port = '', caFile] = process.argv.slice(2)
await using store = openStore({ url, max: 2, applicationName: 'webhook process' })
const gateway = createStripeGateway({ ...stripeKeys, timeoutMs: 20_000, address: { host, port, caFile } })
await handleDueWebhooks(testPayments(store, { gateway, timeoutMs: 20_000, clock: () => new Date() }))
