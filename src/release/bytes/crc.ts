import { crc32 } from 'node:zlib'

// CRC-32 (RFC 1952, 8) is the remainder of a polynomial over GF(2), whose highest power is the lowest bit.
const divisor = 0xedb88320
const one = 0x80000000
const x = 0x40000000
// The powers of x repeat after as many, so there are negative ones.
const order = 2 ** 32 - 1

type Envelope = { readonly head: string; readonly tail: string }

/** A text whose CRC-32 is known. */
export type Summed = { readonly crc: number; readonly bytes: number }

/** The CRC-32 of texts one behind another, of which those that are known are not read. */
export function joinedCrc(texts: readonly (string | Summed)[]): number {
  return texts.reduce((sum: number, text) => {
    if (typeof text === 'string') return crc32(text, sum)
    return (shifted(sum, text.bytes) ^ text.crc) >>> 0
  }, 0)
}

/** The CRC-32 of a text of `bytes` bytes that has this one between `head` and `tail`. */
export function innerCrc(crc: number, bytes: number, { head, tail }: Envelope): number {
  const untilTail = shifted((crc ^ crc32(tail)) >>> 0, -Buffer.byteLength(tail))
  return joinedCrc([head, { crc: untilTail, bytes }])
}

/** A CRC-32 times x to the power of bits in as many bytes. */
function shifted(crc: number, bytes: number): number {
  let shifted = crc
  let bits = (((bytes * 8) % order) + order) % order
  for (const power of powers) {
    if (bits % 2 === 1) shifted = product(shifted, power)
    bits = Math.floor(bits / 2)
  }
  return shifted
}

function product(left: number, right: number): number {
  let [sum, factor] = [0, right]
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((left & bit) !== 0) sum ^= factor
    factor = (factor & 1) === 1 ? (factor >>> 1) ^ divisor : factor >>> 1
  }
  return sum >>> 0
}

/** x to the power of 1, 2, 4 and so on. */
const powers = [x]
for (let power = 1; power < 32; power++) powers.push(product(powers[power - 1] ?? x, powers[power - 1] ?? x))
