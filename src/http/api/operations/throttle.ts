import { askForMail } from '../../../accounts/sql/asked-mail.js'
import {
  addThrottleCounts,
  lockThrottleCounts,
  recordSignIn,
  restoreThrottleCounts,
  type Subject,
  subjectOf,
  type ThrottleCount,
} from '../../../accounts/sql/throttle-counts.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { Db } from '../../../platform/database/connection.js'
import type { Store } from '../../../platform/database/store.js'
import { clientNetwork } from '../client-network.js'
import { type Allowance, accountAllowance, pairAllowance, placeAllowance, waitSeconds } from './allowances.js'

/** Other counted requests: the message for too many, and how many need no wait. */
const counted = {
  /** Of one address. */
  'new-account': { named: 'new accounts from this address', free: 10, longestSeconds: 900 },
  'reset-request': { named: 'requests for a new password from this address', free: 10, longestSeconds: 900 },
  code: { named: 'codes from this address', free: 20, longestSeconds: 900 },
  subscription: { named: 'subscriptions from this address', free: 10, longestSeconds: 900 },
} as const

/** Whom a sign-in is counted for. */
export type SignIn = { readonly pair: Subject; readonly place: Subject; readonly account: Subject }

/** The subject of a client's address. */
export function placeOf(address: string): Subject {
  return subjectOf('place', clientNetwork(address))
}

/** The subjects of a sign-in to the account with this name, known or not. */
export function signInOf(account: string, address: string): SignIn {
  return {
    pair: subjectOf('pair', account, clientNetwork(address)),
    place: placeOf(address),
    account: subjectOf('account', account),
  }
}

/** The subjects that a password hash or check is limited by; each has its share of the queue. */
export function askersOf(address: string, account?: string): string[] {
  return [placeOf(address).toString('hex'), ...(account === undefined ? [] : [account])]
}

/** A sign-in that was counted before its password is checked. */
export type CountedSignIn = {
  /** How long sign-ins from its address or of its account must wait; 0: not at all. */
  readonly waitSeconds: number
  readonly before: readonly ThrottleCount[]
}

/**
 * Counts a sign-in as if it failed, before its password is checked, so that many at once are counted like one after the
 * other. Throws `login-throttled` while sign-ins to this account from this address must wait. While only the address or
 * the account must, the password is checked, and `waitSeconds` is what to answer unless it is right.
 */
export async function countSignIn(store: Store, signIn: SignIn, at: Date): Promise<CountedSignIn> {
  return await store.transaction(async (db) => {
    const counts = await lockThrottleCounts(db, Object.values(signIn), at)
    const waitOf = (subject: Subject, allowance: Allowance) =>
      waitSeconds(
        counts.find((count) => count.subject.equals(subject)),
        allowance,
        at,
      )
    const waitOfPair = waitOf(signIn.pair, pairAllowance)
    const wait = Math.max(waitOf(signIn.place, placeAllowance), waitOf(signIn.account, accountAllowance))
    if (waitOfPair > 0) throw throttledSignIn(Math.max(waitOfPair, wait))
    const counted = wait > 0 ? [signIn.pair] : Object.values(signIn)
    await addThrottleCounts(db, counted, at)
    return { waitSeconds: wait, before: counts.filter(({ subject }) => counted.some((one) => one.equals(subject))) }
  })
}

/** Undoes the count of a sign-in that was neither right nor wrong. */
export async function uncountSignIn(db: Db, { before }: CountedSignIn): Promise<void> {
  await restoreThrottleCounts(db, before)
}

/** Undoes the count of a successful sign-in, and remembers its address. */
export async function recordSuccess(
  db: Db,
  signIn: SignIn,
  counted: CountedSignIn,
  { accountId, at }: { readonly accountId: number; readonly at: Date },
): Promise<void> {
  await restoreThrottleCounts(db, counted.before)
  await recordSignIn(db, { accountId, place: signIn.place, failures: signIn.pair, at })
}

/** Counts a request for its subjects and returns how many came before within the hour; throws `login-throttled` when there were too many. */
export async function countRequest(
  store: Store,
  request: keyof typeof counted,
  whose: Subject | string,
  at: Date,
): Promise<number> {
  const subject = subjectOf(request, typeof whose === 'string' ? whose : whose.toString('hex'))
  return await store.transaction(async (db) => {
    const [count] = await lockThrottleCounts(db, [subject], at)
    const wait = waitSeconds(count, counted[request], at)
    if (wait > 0) throw throttled(counted[request].named, wait)
    await addThrottleCounts(db, [subject], at)
    return count?.count ?? 0
  })
}

/** The subject of mail about an account, by the name that it is known or would be known under. */
export function accountMailOf(name: string): Subject {
  return subjectOf('account-mail', name)
}

/** Counts a message about an account; throws `login-throttled` when its e-mail gets too many. */
export async function countAccountMail(
  store: Store,
  name: string,
  asked: Parameters<typeof askForMail>[2],
): Promise<void> {
  const wait = await store.transaction((db) => askForMail(db, accountMailOf(name), asked))
  if (wait > 0) throw throttled('messages to this e-mail', wait)
}

/** The error of a sign-in that must wait. */
export function throttledSignIn(seconds: number): ServiceError {
  return throttled('failed sign-ins', seconds)
}

function throttled(what: string, seconds: number): ServiceError {
  return new ServiceError('login-throttled', `too many ${what}: try again in ${seconds} s`, {
    retryAfterSeconds: seconds,
  })
}
