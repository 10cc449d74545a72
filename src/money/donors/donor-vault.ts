import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Donor, DonorKey } from '../../kernel/donor.js'
import { ServiceError } from '../../kernel/errors.js'
import type { PayloadProof, SealedDonor } from '../sql/donors.js'

/** A configured key, with one derived key for each purpose. */
type Purposes = {
  readonly id: string
  readonly wrapping: Buffer
  readonly lookup: Buffer
  readonly references: Buffer
  /** No money moved under it. */
  readonly ofTrial: boolean
}

const nonceBytes = 12
const tagBytes = 16
// 128 bits in hexadecimal digits.
const referenceLength = 32

/**
 * Encrypts and decrypts donors. Each donor has a data key of its own, which is encrypted (wrapped) with the first of the
 * configured keys; a rotation wraps the data keys again and leaves the data as it is. Both are bound to the donation's
 * reference, so data that was moved to another donation is refused.
 */
export class DonorVault {
  readonly #keys: ReadonlyMap<string, Purposes>
  readonly #current: Purposes | undefined
  /** Why no donor may be recorded. */
  readonly refusal: string | undefined

  /** Without a refusal the first key encrypts. */
  constructor(keys: readonly DonorKey[], refusal?: string) {
    const derived = keys.map(toPurposes)
    this.#keys = new Map(derived.map((key) => [key.id, key]))
    this.#current = refusal === undefined ? derived[0] : undefined
    this.refusal = refusal
  }

  get keyIds(): string[] {
    return [...this.#keys.keys()]
  }

  /** The id of the key that encrypts. Throws `donor-key-missing` when donors cannot be recorded. */
  get currentId(): string {
    return this.#encrypting().id
  }

  /** Encrypts a donor with their data key; also the digest of the request, which could be guessed from the donor's data. */
  seal(donor: Donor, reference: string, payloadDigest: Buffer): SealedDonor & { readonly payloadHash: Buffer } {
    const key = this.#encrypting()
    const dataKey = randomBytes(32)
    return {
      keyId: key.id,
      wrappedKey: encrypt(key.wrapping, dataKey, wrappingContext(key.id, reference)),
      sealed: encrypt(dataKey, Buffer.from(JSON.stringify([donor.email, donor.details])), dataContext(reference)),
      emailHash: emailHash(key, donor.email),
      payloadHash: payloadHash(dataKey, payloadDigest),
    }
  }

  /** Decrypts a donor. Throws `donor-key-missing`, or `donor-data-changed` when it is not what was encrypted here. */
  open(sealed: SealedDonor, reference: string): Donor {
    const text = decrypt(this.#dataKey(sealed, reference), sealed.sealed, dataContext(reference)).toString()
    const [email, details] = JSON.parse(text) as [string, Record<string, string>]
    const key = this.#keyOf(sealed.keyId)
    if (!emailHash(key, email).equals(sealed.emailHash)) throw changed()
    return { email, details }
  }

  /** The same donor under the key that encrypts now. Throws as `open` does. */
  rewrap(sealed: SealedDonor, reference: string): SealedDonor {
    const key = this.#encrypting()
    const { email } = this.open(sealed, reference)
    const dataKey = this.#dataKey(sealed, reference)
    return {
      keyId: key.id,
      wrappedKey: encrypt(key.wrapping, dataKey, wrappingContext(key.id, reference)),
      sealed: sealed.sealed,
      emailHash: emailHash(key, email),
    }
  }

  /** Whether one of these digests of a request is the one that was recorded. Throws as `open` does. */
  provesPayload({ hash, sealed }: PayloadProof, reference: string, digests: readonly Buffer[]): boolean {
    const dataKey = sealed && this.#dataKey(sealed, reference)
    return digests.some((digest) => {
      const expected = dataKey ? payloadHash(dataKey, digest) : digest
      return expected.length === hash.length && timingSafeEqual(expected, hash)
    })
  }

  /**
   * Our names at the processor for what `parts` name, one under each key, that of the key that encrypts first. They follow
   * from the keys alone, so they are the same whatever the database has lost, and tell nothing to who lacks the keys. Throws
   * `donor-key-missing`.
   */
  references(...parts: readonly string[]): readonly [string, ...string[]] {
    const current = this.#encrypting()
    const named = ({ references }: Purposes) =>
      createHmac('sha256', references).update(JSON.stringify(parts)).digest('hex').slice(0, referenceLength)
    return [named(current), ...[...this.#keys.values()].filter((key) => key !== current && !key.ofTrial).map(named)]
  }

  /** The hashes of this e-mail to look it up by, one for each key; letter case ignored. */
  lookupHashes(email: string): Buffer[] {
    return [...this.#keys.values()].map((key) => emailHash(key, email))
  }

  #encrypting(): Purposes {
    if (this.#current) return this.#current
    const reason = this.refusal ?? 'there is no key to encrypt donors with'
    throw new ServiceError('donor-key-missing', `donors cannot be encrypted: ${reason}`)
  }

  #keyOf(id: string): Purposes {
    const key = this.#keys.get(id)
    if (key) return key
    throw new ServiceError(
      'donor-key-missing',
      `the donor cannot be read: the key "${id}" is missing from DONOR_KEYS; amounts and totals do not need it`,
    )
  }

  #dataKey({ keyId, wrappedKey }: Pick<SealedDonor, 'keyId' | 'wrappedKey'>, reference: string): Buffer {
    return decrypt(this.#keyOf(keyId).wrapping, wrappedKey, wrappingContext(keyId, reference))
  }
}

/** An e-mail as it is looked up. */
function normalised(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}

function toPurposes({ id, secret, ofTrial }: DonorKey): Purposes {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', `giving donor ${purpose}`, 32))
  return {
    id,
    wrapping: derive('data keys'),
    lookup: derive('e-mail lookup'),
    references: derive('payment references'),
    ofTrial: ofTrial ?? false,
  }
}

function emailHash({ lookup }: Purposes, email: string): Buffer {
  return createHmac('sha256', lookup).update(normalised(email)).digest()
}

function payloadHash(dataKey: Buffer, digest: Buffer): Buffer {
  return createHmac('sha256', dataKey).update('giving donor payload\0').update(digest).digest()
}

function wrappingContext(keyId: string, reference: string): Buffer {
  return Buffer.from(`giving donor key 1\0${keyId}\0${reference}`)
}

function dataContext(reference: string): Buffer {
  return Buffer.from(`giving donor 1\0${reference}`)
}

/** AES-256-GCM: nonce, ciphertext, tag. */
function encrypt(key: Buffer, plain: Buffer, context: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAAD(context)
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: Buffer, bytes: Buffer, context: Buffer): Buffer {
  if (bytes.length < nonceBytes + tagBytes) throw changed()
  const end = bytes.length - tagBytes
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(context).setAuthTag(bytes.subarray(end))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, end)), decipher.final()])
  } catch {
    throw changed()
  }
}

function changed(): ServiceError {
  return new ServiceError(
    'donor-data-changed',
    'the stored data of a donor is not what was encrypted: it was changed, belongs to another donation, or its key has another secret',
  )
}
