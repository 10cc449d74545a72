import { randomBytes } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { deflated } from '../../../src/release/bytes/deflated.js'
import { Piece, pieceBytes } from '../../../src/release/bytes/pieces.js'

// What compresses to half: digits. The sizes make the ends of the compressed texts lie anywhere in a buffer.
const texts = Array.from({ length: 400 }, (_, index) =>
  Buffer.from(randomBytes(500 + ((index * 7919) % 20_000)).toString('hex')).subarray(0, pieceBytes),
)

it('compresses a piece to the same bytes, whatever its memory held before', async () => {
  const compress = async (piece: Piece, text: Buffer) => {
    piece.used = text.copy(piece.bytes)
    return await deflated(piece.content)
  }
  const used = new Piece()
  const differing: number[] = []
  for (const [index, text] of texts.entries()) {
    const again = await compress(used, text)
    if (!again.equals(await compress(new Piece(), text))) differing.push(index)
    expect(inflateRawSync(Buffer.concat([again, Buffer.from([3, 0])])).equals(text)).toBe(true)
  }
  expect(differing).toEqual([])
})
