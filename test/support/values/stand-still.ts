/** Lets this thread stand still, as a process does that was stopped: no timer fires meanwhile. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
