import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign, verify } from 'node:crypto'

/** A record of a chain: each names the hash of the one before it, so the last one vouches for all. */
export type ChainRecord = {
  /** Rises from record to record where there is one. */
  readonly run?: number
  /** SHA-256 of the record before, as it stands in the file, hex; absent in the first. */
  readonly previous?: string
  /** Id of the key that signed the record. */
  readonly key?: string
  /** That key, in the first record that it signed. */
  readonly newKey?: NewKey
  /** Ed25519, base64, of the record's JSON without this member. */
  readonly signature?: string
}

/** What stays known of a release for ever, in the order of publication. */
export type ReleaseRecord = ChainRecord & {
  readonly release: string
  readonly run: number
  readonly generated: string
  /** Of the manifest's bytes, hex. */
  readonly manifestSha256: string
  readonly activities: number
  readonly files: number
}

/** A public key (PEM), and the signature by which the key that it replaces vouches for it. */
type NewKey = { readonly publicKey: string; readonly replaces?: string; readonly signature?: string }

/** The publisher's word that a release was up to date at a time. */
export type CheckedRelease = {
  readonly release: string
  readonly manifestSha256: string
  readonly checkedAt: string
  readonly key: string
  readonly signature: string
}

export type SigningKey = { readonly id: string; readonly privateKey: KeyObject } & NewKey

/** SHA-256 of the record as it stands in the file: JSON without white space. */
export function recordHash(record: ChainRecord): string {
  return hash('sha256', JSON.stringify(record))
}

/** The record with these facts after `before`, signed where there is a key. */
export function nextRecord<Facts extends object>(
  facts: Facts,
  before: ChainRecord | undefined,
  signer: SigningKey | undefined,
): Facts & ChainRecord {
  const linked = { ...facts, ...(before && { previous: recordHash(before) }) }
  if (!signer) return linked
  const { id, publicKey, replaces, signature } = signer
  const vouched = replaces !== undefined && replaces === before?.key && signature !== undefined
  const newKey = { publicKey, ...(vouched && { replaces, signature }) }
  return signed({ ...linked, key: id, ...(before?.key !== id && { newKey }) }, signer)
}

/** The text of a chain's file: each record on a line of its own. */
export function chainText(name: string, records: readonly ChainRecord[]): string {
  return `{"${name}":[\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]}\n`
}

/** States that the release is still what the store calls for. */
export function checkedRelease(
  facts: Pick<CheckedRelease, 'release' | 'manifestSha256' | 'checkedAt'>,
  signer: SigningKey,
): CheckedRelease {
  return signed({ ...facts, key: signer.id }, signer)
}

function signed<T extends object>(facts: T, { privateKey }: SigningKey): T & { readonly signature: string } {
  return { ...facts, signature: sign(null, Buffer.from(JSON.stringify(facts)), privateKey).toString('base64') }
}

/** Whether the key signed these facts; members must be in the order in which they were signed. */
function isSignedBy({ signature, ...facts }: { readonly signature?: string | undefined }, key: KeyObject): boolean {
  return (
    isSignature(signature) && verify(null, Buffer.from(JSON.stringify(facts)), key, Buffer.from(signature, 'base64'))
  )
}

/** Whether a text is an Ed25519 signature in base64 as we write it; a decoder would pass over white space and other signs. */
function isSignature(text: string | undefined): text is string {
  return /^[A-Za-z0-9+/]{85}[AQgw]==$/.test(text ?? '')
}

/** A key for signing as the text of its file; an older key that it replaces vouches for it. */
export function createSigningKey(replaced?: SigningKey): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  if (!replaced) return pem
  const { publicKey } = toSigningKey(privateKey)
  const vouching = {
    replaces: replaced.id,
    signature: sign(null, vouchedFor(publicKey), replaced.privateKey).toString('base64'),
  }
  return `${pem}# ${JSON.stringify(vouching)}\n`
}

/** What a key that is replaced signs. */
function vouchedFor(publicKey: string): Buffer {
  return Buffer.from(`giving-iati signing key\n${publicKey}`)
}

/** Reads the text of a key file (PKCS #8 in PEM, Ed25519). */
export function parseSigningKey(text: string): { value: SigningKey } | { expected: string } {
  const expected = 'an Ed25519 key as giving keys signing create writes it'
  const [, vouching] = /^# (\{.*\})$/m.exec(text) ?? []
  try {
    const privateKey = createPrivateKey(text.replace(/^#.*$/gm, ''))
    if (privateKey.asymmetricKeyType !== 'ed25519') return { expected }
    const { replaces, signature } = (vouching === undefined ? {} : JSON.parse(vouching)) as Partial<NewKey>
    const key = toSigningKey(privateKey)
    return {
      value: typeof replaces === 'string' && typeof signature === 'string' ? { ...key, replaces, signature } : key,
    }
  } catch {
    return { expected }
  }
}

function toSigningKey(privateKey: KeyObject): SigningKey {
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }) as string
  return { id: keyId(publicKey), publicKey, privateKey }
}

/** The first half of the SHA-256 of the public key, hex. */
function keyId(publicKey: string): string {
  const bytes = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return hash('sha256', bytes).slice(0, 32)
}

/** Keys by id. */
export type TrustedKeys = ReadonlyMap<string, KeyObject>

/** What is wrong with a chain: `broken` when a record does not follow the one before, `forged` when a signature is not right. */
export type ChainFault = { readonly code: 'broken' | 'forged'; readonly record: number; readonly detail: string }

/**
 * Checks a chain by one public key (PEM), which may be any that signed it: keys that it vouches for are trusted as well, and records
 * before the first that it signed are vouched for by their hashes.
 */
export function checkChain(
  records: readonly ChainRecord[],
  publicKey: string,
): { readonly faults: readonly ChainFault[]; readonly trusted: TrustedKeys } {
  const faults: ChainFault[] = []
  const trusted = new Map([[keyId(publicKey), createPublicKey(publicKey)]])
  for (const [index, record] of records.entries()) {
    const tell = (code: ChainFault['code'], detail: string) => faults.push({ code, record: index, detail })
    const before = records[index - 1]
    if (record.previous !== (before && recordHash(before)))
      tell('broken', 'it does not name the hash of the record before it')
    if (before?.run !== undefined && (record.run ?? 0) <= before.run)
      tell('broken', `run ${record.run} is not after run ${before.run}`)
    const added = record.newKey && vouchedKey(record.newKey, trusted)
    if (added) trusted.set(keyId(added.publicKey), createPublicKey(added.publicKey))
    const key = record.key === undefined ? undefined : trusted.get(record.key)
    const isLast = index === records.length - 1
    if (key && !isSignedBy(record, key)) tell('forged', `its signature is not that of key ${record.key}`)
    else if (!key && isLast) tell('forged', `it is signed by ${record.key ?? 'no key'}, which nothing vouches for`)
  }
  return { faults, trusted }
}

function vouchedKey(newKey: NewKey, trusted: TrustedKeys): NewKey | undefined {
  const { publicKey, replaces, signature } = newKey
  const older = replaces === undefined ? undefined : trusted.get(replaces)
  if (!older || !isSignature(signature)) return undefined
  return verify(null, vouchedFor(publicKey), older, Buffer.from(signature, 'base64')) ? newKey : undefined
}

/** Whether a trusted key states that the release was up to date at `checkedAt`. */
export function isChecked(checked: CheckedRelease, trusted: TrustedKeys): boolean {
  const key = trusted.get(checked.key)
  return key !== undefined && isSignedBy(checked, key)
}
