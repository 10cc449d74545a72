import { expect, test } from 'vitest'
import { killedSync } from '../../../campaign/support/killed-sync.js'

test('kill -9 during a full sync repeats at most one page and ends as if nothing had happened', async () => {
  const { undisturbed, killed, kills, repeated } = await killedSync({ projects: 120, kills: 2 })
  expect(kills).toBe(2)
  expect(Math.max(...repeated)).toBeLessThanOrEqual(1)
  expect(killed).toEqual(undisturbed)
})
