import { setImmediate as nextTurn } from 'node:timers/promises'

// Other work waits for at most this long and one step.
const holdMs = 10

/** Runs steps to their end in one turn. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Runs steps to their end; other work gets a turn between them. Throws the reason of the signal once that is aborted. */
export async function inTurns<T>(steps: Generator<void, T>, signal?: AbortSignal): Promise<T> {
  const yieldIfDue = createYielder()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    const turn = yieldIfDue()
    if (!turn) continue
    await turn
    signal?.throwIfAborted()
  }
}

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
