import { promisify } from 'node:util'
import { constants, deflateRaw } from 'node:zlib'

const deflate = promisify(deflateRaw)

/**
 * The text as whole deflate blocks (level 1) that end on a byte and refer to nothing before them. Each text has a compressor of its
 * own: where a reused one flushes its buffer depends on the texts before, so the same text could give other bytes.
 */
export async function deflated(text: Buffer): Promise<Buffer> {
  // Small buffers: most texts are the values of one column.
  return await deflate(text, {
    level: constants.Z_BEST_SPEED,
    finishFlush: constants.Z_FULL_FLUSH,
    chunkSize: 64 * 1024,
  })
}
