import { setImmediate as nextTurn } from 'node:timers/promises'

// Other work of the process waits for no longer than a turn and one step of the work.
const turnMs = 10

/**
 * Divides long work into turns: the returned function is awaited between its steps, and lets other work of the process
 * run once a turn has lasted 10 ms.
 */
export function inTurns(): () => Promise<void> | undefined {
  let began = performance.now()
  return () => {
    if (performance.now() - began < turnMs) return undefined
    return nextTurn().then(() => {
      began = performance.now()
    })
  }
}
