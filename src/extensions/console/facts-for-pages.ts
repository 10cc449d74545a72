import { setTimeout as sleep } from 'node:timers/promises'
import { type Facts, lookAtFacts } from '../../cli/wiring/assumed-facts.js'
import type { Runtime } from '../../cli/wiring/runtime.js'

// A page waits so long before it says how far the look has come; what nobody has fetched is forgotten.
const patienceMs = 4_000
const keptMs = 60_000

/** Looks at the facts for pages, once at a time; what takes longer than a page may goes on, and says how far it is. */
export function factsForPages(runtime: Runtime): () => Promise<Facts | { readonly done: number }> {
  let running: { readonly found: Promise<Facts>; done: number } | undefined
  const start = () => {
    const onProgress = (done: number) => {
      one.done = done
    }
    const one: NonNullable<typeof running> = { found: lookAtFacts(runtime, onProgress), done: 0 }
    const forget = () => {
      if (running === one) running = undefined
    }
    one.found.then(() => setTimeout(forget, keptMs).unref(), forget)
    return one
  }
  return async () => {
    running ??= start()
    const one = running
    const over = new AbortController()
    const patience = sleep(patienceMs, undefined, { signal: over.signal }).catch(() => undefined)
    const found = await Promise.race([one.found, patience]).finally(() => over.abort())
    if (found === undefined) return { done: one.done }
    if (running === one) running = undefined
    return found
  }
}
