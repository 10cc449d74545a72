import { promisify } from 'node:util'
import { constants, deflateRaw, deflateRawSync } from 'node:zlib'

const deflate = promisify(deflateRaw)

const options = {
  level: constants.Z_BEST_SPEED,
  finishFlush: constants.Z_FULL_FLUSH,
  // Small buffers: most texts are the values of one column or a block of records, and each result keeps its whole buffer.
  chunkSize: 16 * 1024,
}
// So much takes half the CPU in this thread, for less than a millisecond of it, and no longer than in another.
const fewBytes = 192 * 1024

/**
 * The text as whole deflate blocks (level 1) that end on a byte and refer to nothing before them. Each text has a compressor of its
 * own: where a reused one flushes its buffer depends on the texts before, so the same text could give other bytes.
 */
export async function deflated(text: Buffer): Promise<Buffer> {
  return text.length <= fewBytes ? deflateRawSync(text, options) : await deflate(text, options)
}
