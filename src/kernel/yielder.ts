import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** Gives other work its turn. */
export type Pause = () => Promise<unknown>

// Other work waits for at most this long and one step.
const longestMs = 10

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

/** For long work: a function to await between steps, which yields once `holdMs` have passed since it last did. */
export function createYielder(holdMs = longestMs): () => Promise<void> | undefined {
  let began = performance.now()
  return () => {
    if (performance.now() - began < holdMs) return undefined
    return nextTurn().then(() => {
      began = performance.now()
    })
  }
}

// A timer waits for no less.
const restMs = 1

/** For long work that nobody waits for: between steps of a millisecond and more it rests for as long as the step took. */
export function createRest(): Pause {
  let began = performance.now()
  return async () => {
    const took = performance.now() - began
    if (took < restMs) return
    // A timer counts from the begin of the turn, which is that of the step.
    await sleep(5 * took)
    began = performance.now()
  }
}
