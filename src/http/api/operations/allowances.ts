import { forgottenAfterSeconds, type ThrottleCount } from '../../../accounts/sql/throttle-counts.js'

/** The first `free` ones need no wait; from then on each doubles the wait, from a second up to the longest. */
export type Allowance = { readonly free: number; readonly longestSeconds: number }

/** Failed sign-ins of one account from one address. */
export const pairAllowance: Allowance = { free: 5, longestSeconds: 900 }
/** Failed sign-ins from one address, whatever the account. */
export const placeAllowance: Allowance = { free: 20, longestSeconds: 900 }
/** Failed sign-ins of one account from any address: short waits, since its owner waits too. */
export const accountAllowance: Allowance = { free: 20, longestSeconds: 60 }

/** Seconds until the next one after this count may come; 0: now. */
export function waitSeconds(count: Omit<ThrottleCount, 'subject'> | undefined, allowance: Allowance, at: Date): number {
  const excess = (count?.count ?? 0) - allowance.free
  // A free one never waits, although a concurrent request may have been counted after `at`.
  if (!count || excess < 0) return 0
  const seconds = Math.min(allowance.longestSeconds, 2 ** Math.min(excess, 30))
  const left = Math.ceil((count.lastAt.getTime() - at.getTime()) / 1000 + seconds)
  return Math.max(0, Math.min(forgottenAfterSeconds, left))
}
