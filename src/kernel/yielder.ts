import { setImmediate as nextTurn } from 'node:timers/promises'

// Other work waits for at most this long and one step.
const holdMs = 10

/** For long work: a function to await between steps, which yields once 10 ms have passed since it last did. */
export function createYielder(): () => Promise<void> | undefined {
  let began = performance.now()
  return () => {
    if (performance.now() - began < holdMs) return undefined
    return nextTurn().then(() => {
      began = performance.now()
    })
  }
}
