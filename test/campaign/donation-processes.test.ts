import { test } from 'vitest'
import { redisMissing } from '../support/servers/redis.js'
import { describeDonations } from './support/donation-processes.js'

describeDonations('postgres')

const missing = redisMissing()
if (missing === undefined) describeDonations('redis')
else {
  console.warn(`Donations with the queue in Redis are skipped: ${missing}.`)
  test.skip(`donations with the queue in Redis: ${missing}`)
}
