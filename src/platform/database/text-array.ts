const textOid = 25
const byteaOid = 17
// Dimensions, whether there are nulls, type of the elements; size and first index of the one dimension.
const headerBytes = 20

/**
 * The texts as one parameter of type `text[]` in PostgreSQL's binary form. The driver would quote every text into an array
 * literal, and the server would parse it: for texts of many kilobytes that is most of the work of storing them. Buffers are
 * UTF-8.
 */
export function textArray(texts: readonly (string | Buffer | null)[]): Buffer {
  return binaryArray(texts, textOid)
}

/** As `textArray`, of type `bytea[]`. */
export function byteaArray(values: readonly Buffer[]): Buffer {
  return binaryArray(values, byteaOid)
}

function binaryArray(texts: readonly (string | Buffer | null)[], elementOid: number): Buffer {
  const lengths = texts.map((text) => (text === null ? 0 : Buffer.byteLength(text)))
  const array = Buffer.allocUnsafe(headerBytes + lengths.reduce((sum, length) => sum + 4 + length, 0))
  array.writeInt32BE(1, 0)
  array.writeInt32BE(texts.includes(null) ? 1 : 0, 4)
  array.writeInt32BE(elementOid, 8)
  array.writeInt32BE(texts.length, 12)
  array.writeInt32BE(1, 16)
  let at = headerBytes
  texts.forEach((text, index) => {
    const length = lengths[index] ?? 0
    array.writeInt32BE(text === null ? -1 : length, at)
    at += 4
    if (typeof text === 'string') array.write(text, at, 'utf8')
    else if (text !== null) text.copy(array, at)
    at += length
  })
  return array
}
