import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { ServiceError } from '../kernel/errors.js'

/** Cost of a hash (argon2id); memory in KiB. */
export type PasswordCost = { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number }

/** 19 MiB, two passes: about 12 ms of one core. */
const defaultPasswordCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Hashes and checks passwords, a few at a time. */
export type PasswordHashing = {
  hash(password: string): Promise<string>
  /** Whether the password is the hash's. Without a hash it takes as long and returns false. */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>
  /** Does work for these subjects (an account, an address) within the limit of each. */
  limitedFor<T>(askers: readonly string[], work: () => Promise<T>): Promise<T>
}

/**
 * Argon2id with bounded concurrency, since the token operation is the cheapest way to keep every core busy: `concurrent`
 * hashes run, `waiting` more queue. Of one asker's work `each` runs at a time, and `waiting` more wait, outside of that
 * queue. The rest is refused with `server-busy`.
 */
export function createPasswordHashing(
  cost: PasswordCost = defaultPasswordCost,
  { concurrent = 2, waiting = 32, each = 2 }: { concurrent?: number; waiting?: number; each?: number } = {},
): PasswordHashing {
  const limited = createLimit(concurrent, waiting)
  const limitedFor = createLimitPerAsker(each, waiting)
  // What an unknown e-mail is checked against, so that it takes as long as a wrong password.
  let nobody: Promise<string> | undefined
  const nobodysHash = () => {
    nobody ??= hash('nobody has this password', cost)
    return nobody
  }
  return {
    hash: (password) => limited(() => hash(password, cost)),
    verify: (passwordHash, password) =>
      limited(async () => {
        const decoy = await nobodysHash()
        const matches = await verify(passwordHash ?? decoy, password)
        return matches && passwordHash !== undefined
      }),
    limitedFor,
  }
}

type Limit = <T>(work: () => Promise<T>) => Promise<T>

function createLimit(concurrent: number, waiting: number): Limit {
  const limit = pLimit(concurrent)
  let taken = 0
  return async (work) => {
    if (taken >= concurrent + waiting) {
      throw new ServiceError('server-busy', 'too many sign-ins at this moment; try again in a few seconds')
    }
    taken++
    try {
      return await limit(work)
    } finally {
      taken--
    }
  }
}

function createLimitPerAsker(each: number, waiting: number): PasswordHashing['limitedFor'] {
  const limits = new Map<string, { readonly limited: Limit; users: number }>()
  const limitedForOne = async <T>(asker: string, work: () => Promise<T>): Promise<T> => {
    const limit = limits.get(asker) ?? { limited: createLimit(each, waiting), users: 0 }
    limits.set(asker, limit)
    limit.users++
    try {
      return await limit.limited(work)
    } finally {
      limit.users--
      if (limit.users === 0) limits.delete(asker)
    }
  }
  const limitedFor: PasswordHashing['limitedFor'] = ([asker, ...others], work) =>
    asker === undefined ? work() : limitedForOne(asker, () => limitedFor(others, work))
  return limitedFor
}
