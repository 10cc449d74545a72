import { openStore } from '../../../../src/platform/database/store.js'
import { type DonationSteps, donationSteps } from '../../../support/money/donation-steps.js'
import { testPayments } from '../../../support/money/donations.js'
import { beginCounting, countCalls, counted, endCounting, type Fault } from '../call-faults/counted-calls.js'
import { campaignGateway, type ProcessorPlace } from './processors.js'

/** What the process is given. */
export type StandingSettings = {
  readonly url: string
  readonly place: ProcessorPlace
  readonly keyId: number
  readonly timeoutMs: number
  /** How far its clock is ahead of that of others. */
  readonly aheadMs: number
  /** Absent: that of the gateway. */
  readonly lateSeconds?: number
}

/** A step, and at which of its calls the process stands still. */
export type StandingOrder = {
  readonly step: keyof DonationSteps
  readonly given: readonly unknown[]
  readonly fault?: Fault
}

// Does one step after the other; never outlives the test that forked it.
const { url, place, keyId, timeoutMs, lateSeconds, aheadMs } = JSON.parse(process.argv[2] ?? '') as StandingSettings
countCalls({ folders: [], databasePort: Number(new URL(url).port), onlyNetworks: false })
const store = openStore({ url, max: 3, applicationName: 'standing process' })
const gateway = {
  ...(await campaignGateway(place, store, timeoutMs)),
  ...(lateSeconds !== undefined && { lateSeconds }),
}
const steps = donationSteps(
  testPayments(store, { clock: () => new Date(Date.now() + aheadMs), timeoutMs, gateway }),
  keyId,
)
process.once('disconnect', () => process.exit(1))
process.on('message', async ({ step, given, fault }: StandingOrder) => {
  beginCounting(fault)
  const error = await (steps[step] as (...given: readonly unknown[]) => Promise<unknown>)(...given).then(
    () => undefined,
    (reason: unknown) => String(reason),
  )
  endCounting()
  process.send?.({ calls: counted.calls, met: counted.met, error })
})
process.send?.('ready')
