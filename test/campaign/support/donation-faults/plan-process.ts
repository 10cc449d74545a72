import { setTimeout as sleep } from 'node:timers/promises'
import { chargeDuePlans } from '../../../../src/money/plans/charge-plans.js'
import { settleOpen } from '../../../../src/money/settlement.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { testPayments } from '../../../support/money/donations.js'
import { campaignGateway, type ProcessorPlace } from './processors.js'

// Charges plans until it is killed, by a clock that is ahead; never outlives the test that forked it.
const { url, place, aheadMs } = JSON.parse(process.argv[2] ?? '') as {
  url: string
  place: ProcessorPlace
  aheadMs: number
}
const timeoutMs = 700
const store = openStore({ url, max: 3, applicationName: 'campaign plans' })
const clock = () => new Date(Date.now() + aheadMs)
const payments = testPayments(store, { clock, timeoutMs, gateway: await campaignGateway(place, store, timeoutMs) })
process.once('disconnect', () => process.exit(1))
process.send?.(0)
for (;;) {
  await settleOpen(payments).catch(() => undefined)
  await chargeDuePlans(payments).catch(() => 0)
  await sleep(50)
}
