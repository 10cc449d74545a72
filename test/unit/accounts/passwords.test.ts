import { describe, expect, it } from 'vitest'
import { createPasswordHashing } from '../../../src/accounts/passwords.js'

const cheap = { memoryCost: 8, timeCost: 1, parallelism: 1 }

describe('password hashing', () => {
  it('knows a password by its argon2id hash', async () => {
    const passwords = createPasswordHashing(cheap)
    const hash = await passwords.hash(' p<ss&word ')
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=8,t=1,p=1\$/)
    expect(await passwords.verify(hash, ' p<ss&word ')).toBe(true)
    expect(await passwords.verify(hash, 'p<ss&word')).toBe(false)
  })

  it('says no without a hash, even to the decoy itself', async () => {
    const passwords = createPasswordHashing(cheap)
    expect(await passwords.verify(undefined, 'nobody has this password')).toBe(false)
  })

  it('turns away what would wait too long, and serves everybody else', async () => {
    const passwords = createPasswordHashing(cheap, { concurrent: 1, waiting: 2 })
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => passwords.hash('x')))
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ])
    expect(outcomes[3]).toMatchObject({ reason: { code: 'server-busy', status: 503 } })
    await expect(passwords.hash('x')).resolves.toMatch(/^\$argon2id/)
  })

  it('gives nobody more than a share of the queue', async () => {
    const passwords = createPasswordHashing(cheap)
    const served = { greedy: 0, others: 0 }
    let stopped = false
    const hashFor = (...askers: string[]) => passwords.limitedFor(askers, () => passwords.hash('x'))
    const greedy = Array.from({ length: 60 }, async () => {
      while (!stopped) {
        await hashFor('one address', 'one account').then(
          () => served.greedy++,
          () => new Promise(setImmediate),
        )
      }
    })
    for (let index = 0; index < 25; index++) {
      await hashFor(`address ${index}`, `account ${index}`)
      served.others++
    }
    stopped = true
    await Promise.all(greedy)
    expect(served.others).toBe(25)
    expect(served.greedy).toBeGreaterThan(0)
    await expect(hashFor('one address')).resolves.toMatch(/^\$argon2id/)
  })

  it('does the work of one asker two at a time, in order, and refuses what would wait too long', async () => {
    const { limitedFor } = createPasswordHashing(cheap, { waiting: 3 })
    const begun: number[] = []
    let mostAtWork = 0
    let atWork = 0
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4, 5, 6].map((nth) =>
        limitedFor(['one address'], async () => {
          begun.push(nth)
          mostAtWork = Math.max(mostAtWork, ++atWork)
          await new Promise(setImmediate)
          atWork--
        }),
      ),
    )
    expect([begun, mostAtWork]).toEqual([[1, 2, 3, 4, 5], 2])
    expect(outcomes[5]).toMatchObject({ reason: { code: 'server-busy' } })
  })
})
