import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { listPlaces, movePlace } from '../../catalogue/sql/import-sources.js'
import type { DonorKey } from '../../kernel/donor.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'

/** The keys that addresses of sources are kept with: those of donors, else one of this data directory. */
export type SourceKeys = {
  readonly known: readonly DonorKey[]
  /** The key that encrypts; it is made when there is none yet. Throws `configuration-invalid`. */
  readonly current: () => Promise<DonorKey>
  /** Whether all processes have the key, so that what is stored in clear may be encrypted without being asked. */
  readonly isShared: boolean
}

const hiddenQuery = '?…'
const sealedPattern = /^sealed:([\w.-]+):([\w-]+):(.*)$/s
const openPattern = /^([a-z][a-z0-9+.-]*:[^?#]*)([?#].*)$/is
const nonceBytes = 12
const tagBytes = 16

/** Whether a command has shown it, so that it is not the whole place. */
export function isShownPlace(from: string): boolean {
  return from.endsWith(hiddenQuery)
}

/** A place as it is shown: the query of an address is a secret, since many services take a token there. That of S3 is none. */
export function shownPlace(from: string): string {
  const [visible] = partsOf(from)
  return visible === from ? from : `${visible}${hiddenQuery}`
}

/**
 * A place as it is stored: the query of its address is encrypted (AES-256-GCM) and bound to the rest, so that it is sent nowhere else.
 * The nonce follows from both, so the same address is the same text.
 */
export async function sealPlace(from: string, keys: SourceKeys): Promise<string> {
  const [visible, query] = partsOf(openPlace(from, keys.known))
  if (query === undefined) return from
  const key = await keys.current()
  const nonce = createHmac('sha256', derived(key, 'nonce'))
    .update(`${visible}\0${query}`)
    .digest()
    .subarray(0, nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', derived(key, 'query'), nonce).setAAD(Buffer.from(visible))
  const sealed = Buffer.concat([nonce, cipher.update(query, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `sealed:${key.id}:${sealed.toString('base64url')}:${visible}`
}

/** The whole place. Throws `source-unavailable` where its key is not here, or it is not what was encrypted. */
export function openPlace(from: string, known: readonly DonorKey[]): string {
  const [, id, text = '', visible = ''] = sealedPattern.exec(from) ?? []
  if (id === undefined) return from
  const key = known.find((one) => one.id === id)
  if (!key) {
    const message = `${visible}${hiddenQuery}: the key "${id}" of what follows the ? is not here: give all processes the same DONOR_KEYS, or the source its address again`
    throw new ServiceError('source-unavailable', message)
  }
  const sealed = Buffer.from(text, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', derived(key, 'query'), sealed.subarray(0, nonceBytes))
    decipher.setAAD(Buffer.from(visible)).setAuthTag(sealed.subarray(-tagBytes))
    return `${visible}${decipher.update(sealed.subarray(nonceBytes, -tagBytes), undefined, 'utf8')}${decipher.final('utf8')}`
  } catch (cause) {
    throw new ServiceError('source-unavailable', `${visible}${hiddenQuery} is not what was stored`, { cause })
  }
}

/** Encrypts with the current key what is stored in clear or with another key; what has no key here stays. Returns how many. */
export async function sealStoredPlaces(db: Db, keys: SourceKeys): Promise<number> {
  let moved = 0
  for (const { name, from } of await listPlaces(db)) {
    const isReadable =
      sealedPattern.exec(from)?.[1] === undefined || keys.known.some(({ id }) => from.startsWith(`sealed:${id}:`))
    const sealed = isReadable ? await sealPlace(from, keys) : from
    if (sealed !== from && (await movePlace(db, name, from, sealed))) moved++
  }
  return moved
}

/** What of a place may be seen, and the secret behind it. */
function partsOf(from: string): readonly [visible: string, secret?: string] {
  const visible = sealedPattern.exec(from)?.[3]
  if (visible !== undefined) return [visible]
  const [, address, query] = /^s3:/i.test(from) ? [] : (openPattern.exec(from) ?? [])
  return address === undefined || query === undefined ? [from] : [address, query]
}

function derived({ secret }: DonorKey, purpose: 'query' | 'nonce'): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `giving source ${purpose}`, 32))
}
