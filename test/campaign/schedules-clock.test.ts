import { describe, test } from 'vitest'
import { testDatabase } from '../support/store/database.js'
import { publishByWanderingClock, scheduleByWanderingClock } from './support/clocks.js'

describe('a clock that jumps', () => {
  test('over the ends of days, months and leap days, and back', async () => {
    await publishByWanderingClock((await testDatabase()).store)
  })

  test('over the instants of a schedule', async () => {
    await scheduleByWanderingClock((await testDatabase()).store)
  })
})
