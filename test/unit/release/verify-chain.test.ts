import { describe, expect, it } from 'vitest'
import { verifyChain } from '../../../src/extensions/verify/verify-chain.js'
import {
  chainText,
  checkedRelease,
  nextRecord,
  type ReleaseRecord,
  recordHash,
  type SigningKey,
} from '../../../src/kernel/release-chain.js'
import { newSigner } from '../../support/release/signer.js'

const owner = newSigner()
const stranger = newSigner()

function chainOf(signers: readonly (SigningKey | undefined)[], content = 'a'): ReleaseRecord[] {
  const records: ReleaseRecord[] = []
  for (const [index, signer] of signers.entries()) {
    const run = index + 1
    const facts = {
      ...{ release: `20261121T02000${run}Z-${run}`, run, generated: `2026-11-21T02:00:0${run}Z` },
      ...{ manifestSha256: `${content}${run}`, activities: 3, files: 30 },
    }
    records.push(nextRecord(facts, records.at(-1), signer))
  }
  return records
}

const verdict = (records: readonly ReleaseRecord[], manifest: string, key = owner, seen?: ReleaseRecord) =>
  verifyChain(
    { releases: chainText('releases', records), checked: undefined },
    manifest,
    key.publicKey,
    seen && { run: seen.run, recordSha256: recordHash(seen) },
  )
const codes = (...of: Parameters<typeof verdict>) => verdict(...of).findings.map(({ code }) => code)

describe('a chain of releases', () => {
  const chain = chainOf([owner, owner, owner])

  it('is genuine, newest and whole by the key of its owner', () => {
    expect(codes(chain, 'a3')).toEqual([])
    expect(codes(chain, 'a3', owner, chain[1])).toEqual([])
    expect(verdict(chain, 'a3').recordSha256).toBe(recordHash(chain[2] as ReleaseRecord))
  })

  it('is read in one way only: no member twice, no white space in a signature', () => {
    const text = chainText('releases', chain)
    const read = (releases: string) =>
      verifyChain({ releases, checked: undefined }, 'a3', owner.publicKey, undefined).findings.map(({ code }) => code)
    expect(read(text)).toEqual([])
    expect(read(text.replaceAll('"activities"', '"activities":9,"activities"'))).toEqual(['unsigned'])
    expect(read(text.replace('"activities"', '"manifest\\u0053ha256":"b1","activities"'))).toEqual(['unsigned'])
    expect(read(text.replace(/"signature":"(.)(?=[^"]*"[^"]*$)/, '"signature":"$1 '))).toEqual(['forged'])
    expect(read(text.replace(/(==)"(?=[^"]*$)/, '$1\\n"'))).toEqual(['forged'])
  })

  it('is up to date by the word of its owner, which does not go away', () => {
    const facts = { release: '20261121T020003Z-3', manifestSha256: 'a3', checkedAt: '2026-11-22T02:00:00Z' }
    const read = (checked: string | undefined, checkedAt?: string) =>
      verifyChain({ releases: chainText('releases', chain), checked }, 'a3', owner.publicKey, { run: 3, checkedAt })
    const word = JSON.stringify(checkedRelease(facts, owner))
    expect(read(word)).toMatchObject({ findings: [], checkedAt: facts.checkedAt })
    expect(read(JSON.stringify(checkedRelease(facts, stranger))).findings).toMatchObject([{ code: 'forged' }])
    expect(read('{}').findings).toMatchObject([{ code: 'forged' }])
    expect(read(word.replace('"checkedAt"', '"checkedAt":"2027-01-01T00:00:00Z","checkedAt"')).findings).toMatchObject([
      { code: 'forged' },
    ])
    expect(read(undefined).findings).toEqual([])
    expect(read(undefined, facts.checkedAt).findings).toMatchObject([{ code: 'rollback' }])
  })

  it('that has faults is told by them alone, whoever says that it is up to date', () => {
    const facts = { release: '20261121T020003Z-3', manifestSha256: 'a3', checkedAt: '2026-11-22T02:00:00Z' }
    const checked = JSON.stringify(checkedRelease(facts, stranger))
    const releases = chainText('releases', chainOf([owner, owner, stranger]))
    const { findings } = verifyChain({ releases, checked }, 'a3', owner.publicKey, undefined)
    expect(findings).toMatchObject([{ code: 'forged', expected: expect.not.stringContaining('checked.json') }])
  })

  it('is forged by the key of somebody else', () => {
    expect(codes(chain, 'a3', stranger)).toEqual(['forged'])
    expect(codes(chainOf([owner, owner, stranger]), 'a3')).toEqual(['forged'])
  })

  it.each([0, 1, 2])('shows that record %i was changed, whatever member', (index) => {
    for (const change of [
      { manifestSha256: 'other' },
      { generated: '2026-11-22T00:00:00Z' },
      { activities: 4 },
      { files: 31 },
    ]) {
      const changed = chain.map((record, at) => (at === index ? { ...record, ...change } : record))
      expect(codes(changed, 'a3')).toContain('forged')
    }
  })

  it('shows that a record was left out or put in another place', () => {
    const [first, second, third] = chain as [ReleaseRecord, ReleaseRecord, ReleaseRecord]
    expect(codes([first, third], 'a3')).toContain('fork')
    expect(codes([second, third], 'a3')).toContain('fork')
    expect(codes([second, first, third], 'a3')).toContain('fork')
  })

  it('shows an older manifest under it, and one that nobody signed', () => {
    expect(codes(chain, 'a2')).toEqual(['rollback'])
    expect(codes(chain, 'x')).toEqual(['forged'])
  })

  it('shows that it is shorter than before, and that its owner has told another story since', () => {
    expect(codes(chain.slice(0, 2), 'a2', owner, chain[2])).toEqual(['rollback'])
    expect(codes(chainOf([owner, owner, owner], 'b'), 'b3', owner, chain[2])).toEqual(['fork'])
    expect(codes(chainOf([owner, owner, owner, owner], 'b'), 'b4', owner, chain[2])).toEqual(['fork'])
  })

  it('is unsigned without signatures, records or a file', () => {
    expect(codes(chainOf([undefined]), 'a1')).toEqual(['forged'])
    for (const releases of [undefined, '', '{}', '{"releases":[]}', '{"releases":[{}]}']) {
      expect(verifyChain({ releases, checked: undefined }, 'a1', owner.publicKey, undefined).findings).toMatchObject([
        { code: 'unsigned' },
      ])
    }
  })
})

describe('a new key', () => {
  const next = newSigner(owner)
  const third = newSigner(next)

  it('is trusted by who has the key before it, and the records before it by who has the new one', () => {
    const rotated = chainOf([owner, owner, next, third, third])
    for (const key of [owner, next, third]) expect(codes(rotated, 'a5', key)).toEqual([])
    expect(rotated.map(({ newKey }) => newKey !== undefined)).toEqual([true, false, true, true, false])
  })

  it('is not trusted when the key before it does not vouch for it', () => {
    const { replaces: _, signature: __, ...bare } = next
    expect(codes(chainOf([owner, bare]), 'a2')).toEqual(['forged'])
    const claimed = { ...stranger, replaces: owner.id, signature: next.signature ?? '' }
    expect(codes(chainOf([owner, claimed]), 'a2')).toEqual(['forged'])
  })
})

describe('the word that a release is up to date', () => {
  const chain = chainOf([owner])
  const facts = { release: 'r', manifestSha256: 'a1', checkedAt: '2026-11-25T02:00:00Z' }
  const checkedAt = (checked: object, manifest = 'a1') =>
    verifyChain(
      { releases: chainText('releases', chain), checked: JSON.stringify(checked) },
      manifest,
      owner.publicKey,
      undefined,
    ).checkedAt

  it('counts when the owner signed it for this manifest', () => {
    const checked = checkedRelease(facts, owner)
    expect(checkedAt(checked)).toBe(facts.checkedAt)
    expect(checkedAt(checked, 'a2')).toBeUndefined()
    expect(checkedAt({ ...checked, checkedAt: '2026-11-26T02:00:00Z' })).toBeUndefined()
    expect(checkedAt(checkedRelease(facts, stranger))).toBeUndefined()
  })
})
