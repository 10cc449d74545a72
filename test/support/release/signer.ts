import { createSigningKey, parseSigningKey, type SigningKey } from '../../../src/kernel/release-chain.js'

/** A key to sign releases with, in place of another where one is given. */
export function newSigner(replaced?: SigningKey): SigningKey {
  const read = parseSigningKey(createSigningKey(replaced))
  if (!('value' in read)) throw new Error(read.expected)
  return read.value
}
