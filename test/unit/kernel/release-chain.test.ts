import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  checkChain,
  checkedRelease,
  createSigningKey,
  isChecked,
  nextRecord,
  parseSigningKey,
  type ReleaseRecord,
  recordHash,
} from '../../../src/kernel/release-chain.js'
import { newSigner } from '../../support/release/signer.js'

const facts = (run: number) => ({
  ...{ release: `r${run}`, run, generated: '2026-11-21T02:00:00Z', manifestSha256: 'm', activities: 3, files: 30 },
})
const [owner, stranger] = [newSigner(), newSigner()]
const next = newSigner(owner)

describe('a record', () => {
  it('names the one before it, and is signed where there is a key', () => {
    const first = nextRecord(facts(1), undefined, undefined)
    expect(first).toEqual(facts(1))
    expect(nextRecord(facts(2), first, undefined)).toEqual({ ...facts(2), previous: recordHash(first) })
    expect(Object.keys(nextRecord(facts(1), undefined, owner)).slice(6)).toEqual(['key', 'newKey', 'signature'])
  })

  it('has the key that signs it when that is new, with the word of the key that it replaces', () => {
    const first = nextRecord(facts(1), undefined, owner)
    expect(first.newKey).toEqual({ publicKey: owner.publicKey })
    expect(nextRecord(facts(2), first, owner).newKey).toBeUndefined()
    const { publicKey, replaces, signature } = next
    expect(nextRecord(facts(2), first, next).newKey).toEqual({ publicKey, replaces, signature })
    // The key before is not the one that it replaces.
    const other = nextRecord(facts(1), undefined, stranger)
    expect(nextRecord(facts(2), other, next).newKey).toEqual({ publicKey })
    expect(nextRecord(facts(2), undefined, next).newKey).toEqual({ publicKey })
    const { signature: _, ...unsigned } = next
    expect(nextRecord(facts(2), first, unsigned).newKey).toEqual({ publicKey })
  })
})

describe('a key for signing', () => {
  const expected = 'an Ed25519 key as giving keys signing create writes it'
  const x25519 = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const pem = createSigningKey()

  it.each(['', 'a key', x25519, `${pem}# {"replaces":}\n`])('is not %j', (text) => {
    expect(parseSigningKey(text)).toEqual({ expected })
  })

  it('has the word of the key that it replaces', () => {
    expect(newSigner(owner)).toMatchObject({ replaces: owner.id, signature: expect.any(String) })
  })

  it.each(['{}', '{"replaces":"a"}', '{"signature":"b"}', '{"replaces":1,"signature":"b"}'])(
    'without the word of another is one: %s',
    (vouching) => {
      const read = parseSigningKey(`${pem}# ${vouching}\n`)
      expect('value' in read && Object.keys(read.value)).toEqual(['id', 'publicKey', 'privateKey'])
    },
  )
})

describe('what is wrong with a chain', () => {
  const chain: ReleaseRecord[] = []
  for (const run of [1, 2, 3]) chain.push(nextRecord(facts(run), chain.at(-1), owner))
  const faultsOf = (records: readonly ReleaseRecord[], key = owner) =>
    checkChain(records, key.publicKey).faults.map(({ code, record, detail }) => `${code} ${record}: ${detail}`)
  const [first, second, third] = chain as [ReleaseRecord, ReleaseRecord, ReleaseRecord]
  const notLinked = 'it does not name the hash of the record before it'

  it('is said of each record', () => {
    expect(faultsOf(chain)).toEqual([])
    expect(faultsOf([])).toEqual([])
    expect(faultsOf([first, third])).toEqual([`broken 1: ${notLinked}`])
    expect(faultsOf([second])).toEqual([`broken 0: ${notLinked}`])
    const repeated = nextRecord(facts(3), third, owner)
    expect(faultsOf([...chain, repeated])).toEqual(['broken 3: run 3 is not after run 3'])
    const { signature: _, ...unsigned } = third
    expect(faultsOf([first, second, unsigned])).toEqual([`forged 2: its signature is not that of key ${owner.id}`])
  })

  it('is a last record that nothing vouches for', () => {
    const bare = nextRecord(facts(4), third, undefined)
    expect(faultsOf([...chain, bare])).toEqual(['forged 3: it is signed by no key, which nothing vouches for'])
    expect(faultsOf(chain, stranger)).toEqual([`forged 2: it is signed by ${owner.id}, which nothing vouches for`])
    const { publicKey } = next
    const withNewKey = (newKey: object) => [
      ...chain,
      { ...nextRecord(facts(4), third, next), newKey: { publicKey, ...newKey } },
    ]
    const forged = [`forged 3: it is signed by ${next.id}, which nothing vouches for`]
    expect(faultsOf(withNewKey({}))).toEqual(forged)
    expect(faultsOf(withNewKey({ replaces: owner.id }))).toEqual(forged)
    expect(faultsOf(withNewKey({ signature: next.signature }))).toEqual(forged)
    expect(faultsOf([...chain, nextRecord(facts(4), third, next)])).toEqual([])
  })

  it('is not said of a release that a trusted key states to be up to date', () => {
    const checked = checkedRelease({ release: 'r', manifestSha256: 'm', checkedAt: '2026-11-21T02:00:00Z' }, owner)
    const { trusted } = checkChain(chain, owner.publicKey)
    expect(isChecked(checked, trusted)).toBe(true)
    expect(isChecked({ ...checked, release: 'other' }, trusted)).toBe(false)
    expect(isChecked({ ...checked, signature: undefined as never }, trusted)).toBe(false)
    expect(isChecked({ ...checked, key: stranger.id }, trusted)).toBe(false)
  })
})
