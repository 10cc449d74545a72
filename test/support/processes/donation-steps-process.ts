import type { ProcessorAddress } from '../../../src/money/gateways/processor-calls.js'
import { openStore } from '../../../src/platform/database/store.js'
import { type DonationSteps, donationSteps } from '../money/donation-steps.js'
import { quick, testPayments } from '../money/donations.js'
import { gatewayAt, limits, type ProcessorWithSdk, timeoutMs } from '../money/processors.js'

// Does the steps that it is sent, until it is killed; never outlives the test that forked it.
const { url, name, address, keyId } = JSON.parse(process.argv[2] ?? '') as {
  url: string
  name: ProcessorWithSdk
  address: ProcessorAddress
  keyId: number
}
let now = new Date(0)
const store = openStore({ url, max: 3, applicationName: 'donation steps' })
const gateway = quick(gatewayAt(name, address))
const steps = donationSteps(
  testPayments(store, { gateway, timeoutMs, limits, clock: () => now, mailsReceipts: true }),
  keyId,
)
process.once('disconnect', () => process.exit(1))
process.on('message', (message: { at: number; step: keyof DonationSteps; given: readonly never[] }) => {
  now = new Date(message.at)
  const step = steps[message.step] as (...given: readonly never[]) => Promise<string | undefined>
  step(...message.given).then(
    (value) => process.send?.({ value }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.send?.('ready')
