import type { Timer } from '../../../src/catalogue/sync/pace.js'

/** Time that passes when somebody sleeps, and only then. */
export function passingTime(): Timer {
  let now = 0
  return {
    now: () => now,
    sleep: async (ms) => {
      now += ms
    },
  }
}
