import type { BlockStart, TextsOfFiles } from './texts.js'

/** A block of records in a written file: what names it, its bytes there and in the twin, and their CRC-32. */
export type WrittenBlock = {
  readonly fingerprint: string
  readonly at: number
  readonly bytes: number
  readonly atInTwin: number
  readonly bytesInTwin: number
  readonly crc: number
}

// Fewer records compress worse, and with more a change takes more with it.
const recordsOfBlock = 16

/** How many ids a block covers, so that it has about so many records: a power of two, which a few more gaps do not change. */
export function idsOfBlock(records: number, ids: number): number {
  let width = recordsOfBlock
  while (width * records * 1.5 < recordsOfBlock * ids) width *= 2
  return width
}

/**
 * Rows in blocks. `startOf` gives the beginning of a row's block, the same object for all its rows; undefined: the row is passed
 * over. `textsOf` gives the texts of a row for each file.
 */
export async function* inBlocks(
  batches: AsyncIterable<readonly (readonly Buffer[])[]>,
  startOf: (fields: readonly Buffer[]) => BlockStart | undefined,
  textsOf: (fields: readonly Buffer[], block: BlockStart) => readonly (readonly Buffer[])[],
): TextsOfFiles {
  let open: BlockStart | undefined
  for await (const rows of batches) {
    let texts: Buffer[][] = []
    for (const fields of rows) {
      const block = startOf(fields)
      if (!block) continue
      if (block !== open) {
        yield texts
        yield block
        texts = []
        open = block
      }
      for (const [file, more] of textsOf(fields, block).entries()) {
        const own = texts[file] ?? []
        texts[file] = own
        own.push(...more)
      }
    }
    yield texts
  }
}
