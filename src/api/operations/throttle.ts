import { normalizeIP } from '@fastify/rate-limit'
import { ServiceError } from '../../domain/errors.js'
import {
  addThrottleCounts,
  forgottenAfterSeconds,
  isKnownPlace,
  listThrottleCounts,
  recordSignIn,
  type Subject,
  subjectOf,
  type ThrottleCount,
} from '../../store/access/throttle-counts.js'
import type { Db } from '../../store/database/connection.js'

/** The first `free` ones need no wait; each further one doubles it, from a second up to the longest. */
export type Allowance = { readonly free: number; readonly longestSeconds: number }

/** Failed sign-ins of one account from one address. */
export const pairAllowance: Allowance = { free: 5, longestSeconds: 900 }
/** Failed sign-ins from one address, whatever the account. */
export const placeAllowance: Allowance = { free: 20, longestSeconds: 900 }
/** Failed sign-ins of one account, wherever from: short waits, since its owner waits too. */
export const accountAllowance: Allowance = { free: 20, longestSeconds: 60 }
/** New accounts from one address. */
export const newAccountAllowance: Allowance = { free: 10, longestSeconds: 900 }

/** When the next one after this count may come; an instant in the past: now. */
export function openAgainAt({ count, lastAt }: Omit<ThrottleCount, 'subject'>, allowance: Allowance): Date {
  const excess = count - allowance.free
  const seconds = excess < 0 ? 0 : Math.min(allowance.longestSeconds, 2 ** Math.min(excess, 30))
  return new Date(lastAt.getTime() + seconds * 1000)
}

/** One sign-in: what is counted when it fails. */
export type SignIn = { readonly pair: Subject; readonly place: Subject; readonly account: Subject }

/** The subjects of a sign-in, whether the account exists or not; of an IPv6 address its network (/64) counts. */
export function signInOf(email: string, address: string): SignIn {
  const name = email.toLowerCase()
  const network = normalizeIP(address)
  return {
    pair: subjectOf('pair', name, network),
    place: subjectOf('place', network),
    account: subjectOf('account', name),
  }
}

/**
 * Throws `login-throttled` while sign-ins like this one must wait. An account that has signed in from this address
 * before feels its own failures from here only: nobody can keep an owner out by failing elsewhere, or from behind the
 * same proxy.
 */
export async function refuseThrottled(db: Db, signIn: SignIn, email: string, at: Date): Promise<void> {
  const counts = await listThrottleCounts(db, Object.values(signIn), at)
  const waitFor = (subject: Subject, allowance: Allowance) =>
    waitSeconds(
      counts.find((count) => count.subject.equals(subject)),
      allowance,
      at,
    )
  const own = waitFor(signIn.pair, pairAllowance)
  const others = Math.max(waitFor(signIn.place, placeAllowance), waitFor(signIn.account, accountAllowance))
  const wait = others > own && !(await isKnownPlace(db, email, signIn.place, at)) ? others : own
  if (wait > 0) throw throttled('failed sign-ins', wait)
}

/** Counts a failed sign-in. */
export async function countFailure(db: Db, signIn: SignIn, at: Date): Promise<void> {
  await addThrottleCounts(db, Object.values(signIn), at)
}

/** Remembers a sign-in that succeeded. */
export async function countSuccess(db: Db, signIn: SignIn, accountId: number, at: Date): Promise<void> {
  await recordSignIn(db, { accountId, place: signIn.place, failures: signIn.pair, at })
}

/** Counts a new account from this address; throws `login-throttled` when there were too many. */
export async function countNewAccount(db: Db, address: string, at: Date): Promise<void> {
  const subject = subjectOf('new-account', normalizeIP(address))
  const [count] = await listThrottleCounts(db, [subject], at)
  const wait = waitSeconds(count, newAccountAllowance, at)
  if (wait > 0) throw throttled('new accounts from this address', wait)
  await addThrottleCounts(db, [subject], at)
}

function waitSeconds(count: ThrottleCount | undefined, allowance: Allowance, at: Date): number {
  if (!count) return 0
  return Math.min(forgottenAfterSeconds, Math.ceil((openAgainAt(count, allowance).getTime() - at.getTime()) / 1000))
}

function throttled(what: string, seconds: number): ServiceError {
  return new ServiceError('login-throttled', `too many ${what}: try again in ${seconds} s`, {
    retryAfterSeconds: seconds,
  })
}
