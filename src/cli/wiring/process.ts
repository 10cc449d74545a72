import { readdirSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Environment } from '../../platform/config/config.js'
import { reportToSystemd } from '../../platform/observability/supervisor.js'
import type { Runtime } from './runtime.js'
import { boundYoungGeneration, freeYoungGeneration } from './young-generation.js'

// An API answers as many requests with 100 as without a bound, in three quarters of the memory.
export const serviceGrowthPercent = 100
// A worker makes much garbage: with 200 it takes 8% less CPU than with 100, for 6 to 25 MB; with 400 no less.
const workerGrowthPercent = 200
const sparingGrowthPercent = 40

/**
 * Keeps this process's heap close to the memory in use, at the cost of more frequent garbage collection: by default V8
 * lets garbage grow to a multiple of it first, here to `growthPercent` of it. The returned function frees all garbage at once.
 */
export function boundHeap(growthPercent = 40): Collect {
  growth = growthPercent
  growHeapBy(growth)
  return collector()
}

// V8's own measure, until a process bounds its heap.
let growth = 0

function growHeapBy(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
}

function collector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}

type Collect = (options?: { readonly type: 'minor' }) => void

/** Bounds the heap of an API, but not what is young: pages of many readers that are drawn at once would be copied as if they stayed. */
export function boundApiHeap(): void {
  boundHeap(serviceGrowthPercent)
  freeYoungGeneration()
}

/** Does work during which the heap grows by less: what the process needs beside it is much then, and garbage comes on top. */
export async function withLessGarbage<T>(work: () => Promise<T>): Promise<T> {
  growHeapBy(sparingGrowthPercent)
  // Until garbage is collected, the heap may grow as it was told before. Then V8 makes the young generation as small as at first.
  const collect = collector()
  collect()
  boundYoungGeneration(collect)
  try {
    return await work()
  } finally {
    growHeapBy(growth)
  }
}

/**
 * Bounds the heap of a worker, and has V8 copy less code of other functions into each that it compiles: a worker that has just
 * started renders with a tenth less CPU, and as fast later. Young garbage is collected by one thread: several take 2% more CPU and
 * 5% more time, beside a database that is busy too. `giving validate` gains nothing by that.
 */
export function tuneWorker(growthPercent = workerGrowthPercent): void {
  boundYoungGeneration(boundHeap(growthPercent))
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=150')
  setFlagsFromString('--no-parallel-scavenge')
}

/**
 * Lets an API and other processes of the machine go first, since people wait for those. A priority that an operator has chosen
 * stays.
 */
export function goBehindOthers(): void {
  if (getPriority() !== constants.priority.PRIORITY_NORMAL) return
  for (const thread of threadsOfProcess()) {
    try {
      setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL)
    } catch {
      // The thread has ended, or the system refuses.
    }
  }
}

/** Linux has a priority for each thread, and new ones have that of the thread that starts them. */
function threadsOfProcess(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    return [process.pid]
  }
}

/** Resolves when the process is asked to stop; until then systemd hears that it is alive. */
export async function untilStopped(environment: Environment, { signal, log }: Runtime) {
  reportToSystemd(environment, signal, log)
  await aborted(signal)
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
