import { describe, test } from 'vitest'
import { publishByWanderingClock, scheduleByWanderingClock } from '../support/campaign/clocks.js'
import { testDatabase } from '../support/database.js'

describe('a clock that jumps', () => {
  test('over the ends of days, months and leap days, and back', async () => {
    await publishByWanderingClock((await testDatabase()).store)
  })

  test('over the instants of a schedule', async () => {
    await scheduleByWanderingClock((await testDatabase()).store)
  })
})
