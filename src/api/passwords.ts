import { hash, verify } from '@node-rs/argon2'
import { ServiceError } from '../domain/errors.js'

/** Cost of a hash (argon2id); memory in KiB. */
export type PasswordCost = { readonly memoryCost: number; readonly timeCost: number; readonly parallelism: number }

/** 19 MiB, two passes: about 12 ms of one core. */
export const defaultPasswordCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Hashes and checks passwords, a few at a time. */
export type PasswordHashing = {
  hash(password: string): Promise<string>
  /** Whether the password is the hash's. Without a hash it takes as long and says no. */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>
}

/**
 * Argon2id with bounded concurrency, since the token operation is the cheapest way to keep every core busy: `concurrent`
 * hashes run, `waiting` more queue, the rest are turned away with `server-busy`.
 */
export function createPasswordHashing(
  cost: PasswordCost = defaultPasswordCost,
  { concurrent = 2, waiting = 32 }: { concurrent?: number; waiting?: number } = {},
): PasswordHashing {
  const limited = createGate(concurrent, waiting)
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
  }
}

function createGate(concurrent: number, waiting: number) {
  let running = 0
  const queue: (() => void)[] = []
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < concurrent) running++
    else {
      if (queue.length >= waiting) {
        throw new ServiceError('server-busy', 'too many sign-ins at this moment; try again in a few seconds')
      }
      // Whoever finishes hands its place on, so `running` stays as it is.
      await new Promise<void>((resolve) => queue.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running--
    }
  }
}
