import type { Log } from '../../platform/observability/log.js'

const warnEveryMs = 60_000

/** Warns at most once a minute, with the number of refusals since the last warning. */
export function warnSometimes(log: Log): (fields: object, message: string) => void {
  let refused = 0
  let warnedAt = Number.NEGATIVE_INFINITY
  return (fields, message) => {
    refused++
    if (performance.now() - warnedAt < warnEveryMs) return
    log.warn({ ...fields, refused }, message)
    refused = 0
    warnedAt = performance.now()
  }
}
