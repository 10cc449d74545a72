import { hash, verify } from '@node-rs/argon2'
import { ServiceError } from '../domain/errors.js'

/** Cost of a hash (argon2id); memory in KiB. */
export type PasswordCost = { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number }

/** 19 MiB, two passes: about 12 ms of one core. */
export const defaultPasswordCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Hashes and checks passwords, a few at a time; `askers` are whom the work is for: an account, an address. */
export type PasswordHashing = {
  hash(password: string, askers?: readonly string[]): Promise<string>
  /** Whether the password is the hash's. Without a hash it takes as long and returns false. */
  verify(passwordHash: string | undefined, password: string, askers?: readonly string[]): Promise<boolean>
}

/**
 * Argon2id with bounded concurrency, since the token operation is the cheapest way to keep every core busy: `concurrent`
 * hashes run, `waiting` more queue, of them at most `each` for one asker. The rest are refused with `server-busy`.
 */
export function createPasswordHashing(
  cost: PasswordCost = defaultPasswordCost,
  { concurrent = 2, waiting = 32, each = 4 }: { concurrent?: number; waiting?: number; each?: number } = {},
): PasswordHashing {
  const limited = createGate(concurrent, waiting, each)
  // What an unknown e-mail is checked against, so that it takes as long as a wrong password.
  let nobody: Promise<string> | undefined
  const nobodysHash = () => {
    nobody ??= hash('nobody has this password', cost)
    return nobody
  }
  return {
    hash: (password, askers = []) => limited(askers, () => hash(password, cost)),
    verify: (passwordHash, password, askers = []) =>
      limited(askers, async () => {
        const decoy = await nobodysHash()
        const matches = await verify(passwordHash ?? decoy, password)
        return matches && passwordHash !== undefined
      }),
  }
}

function createGate(concurrent: number, waiting: number, each: number) {
  let running = 0
  const queue: (() => void)[] = []
  const taken = new Map<string, number>()
  const takenBy = (asker: string) => taken.get(asker) ?? 0
  const enter = async () => {
    if (running < concurrent) running++
    // Whoever finishes hands its place on, so `running` stays as it is.
    else await new Promise<void>((resolve) => queue.push(resolve))
  }
  const leave = () => {
    const next = queue.shift()
    if (next) next()
    else running--
  }
  return async <T>(askers: readonly string[], work: () => Promise<T>): Promise<T> => {
    if (queue.length >= waiting || askers.some((asker) => takenBy(asker) >= each)) {
      throw new ServiceError('server-busy', 'too many sign-ins at this moment; try again in a few seconds')
    }
    for (const asker of askers) taken.set(asker, takenBy(asker) + 1)
    try {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    } finally {
      for (const asker of askers) {
        if (takenBy(asker) === 1) taken.delete(asker)
        else taken.set(asker, takenBy(asker) - 1)
      }
    }
  }
}
