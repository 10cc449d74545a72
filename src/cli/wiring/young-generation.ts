import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import type { Worker } from 'node:worker_threads'

/**
 * Keeps the young generation at its size, one or two MB at first: while the modules of a service are loaded, V8 would let it grow to the
 * largest, and never shrink it in a process that is busy.
 */
export function holdYoungGeneration(): void {
  hold()
  process.on('worker', holdWhileItStarts)
}

function hold(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** For the whole process, V8 raises the factor to two when a thread configures its heap. */
function holdWhileItStarts(thread: Worker): void {
  const again = setInterval(hold, 1)
  const started = () => {
    clearInterval(again)
    hold()
  }
  thread.once('online', started)
  thread.once('exit', started)
}

/**
 * Sets the young generation to four MB for good; before, it was held. A service moves large buffers, which are freed with the small
 * objects that hold them: with V8's 16 MB they take 20 to 40 MB more, for as much CPU.
 */
export function boundYoungGeneration(gc: YoungCollection): void {
  setFlagsFromString('--semi-space-growth-factor=2')
  // V8 doubles it before it collects, when more has survived since it did than it holds: so much at a time that it does once at most.
  const survivors: unknown[] = []
  for (let times = 0; times < mostTimes && bytesOfYoung() < youngBytes; times++) {
    survivors.push(Array.from({ length: 16_384 }, (_, number) => ({ number })))
    gc({ type: 'minor' })
  }
  hold()
}

/** Leaves its size to V8 again, up to 16 MB. */
export function freeYoungGeneration(): void {
  process.off('worker', holdWhileItStarts)
  setFlagsFromString('--semi-space-growth-factor=2')
}

const youngBytes = 4 * 2 ** 20
const mostTimes = 32

/** Half of the space, since young objects are copied into the other. */
function bytesOfYoung(): number {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
  return (young?.space_size ?? 0) / 2 || youngBytes
}

type YoungCollection = (options: { readonly type: 'minor' }) => void
