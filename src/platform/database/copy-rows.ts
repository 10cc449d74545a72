import { to as copyTo } from 'pg-copy-streams'
import { type Connection, sqlState, toStoreError } from './connection.js'

/**
 * Rows of `copy (...) to stdout (format binary)` as their raw fields, a batch per chunk received; the caller's
 * connection is busy until the last one, and lost when not all are taken. Fields are views into the chunk: use or copy
 * them before asking for more. The binary format is used because the text format escapes backslashes and line breaks.
 */
export async function* copyRows(client: Connection, sql: string): AsyncGenerator<Buffer[][]> {
  const copy = client.query(copyTo(sql))
  // The connection that is closed below reports its end here, after the iteration.
  copy.on('error', () => undefined)
  const cutter = new RowCutter()
  let over = false
  try {
    for await (const chunk of copy as AsyncIterable<Buffer>) {
      const rows = cutter.cut(chunk)
      if (rows.length > 0) yield rows
    }
    over = cutter.ended
    if (!over) throw new Error('the COPY stream ended before its last row')
  } catch (error) {
    over = sqlState(error) !== undefined
    throw toStoreError(error)
  } finally {
    // The server would go on sending, and the next statement, even a rollback, would wait behind it for ever.
    if (!over) client.connection.stream.destroy()
  }
}

// "PGCOPY\n\377\r\n\0", 4 bytes of flags, 4 bytes of header extension length.
const headerBytes = 19

/** Cuts the chunks of a binary COPY into rows; an incomplete row waits for the next chunk. */
class RowCutter {
  ended = false
  #inHeader = true
  #rest: Buffer = Buffer.alloc(0)

  cut(chunk: Buffer): Buffer[][] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const rows: Buffer[][] = []
    let at = 0
    if (this.#inHeader && bytes.length >= headerBytes) {
      at = headerBytes + bytes.readUInt32BE(headerBytes - 4)
      this.#inHeader = false
    }
    while (!this.#inHeader && !this.ended) {
      const row = rowAt(bytes, at)
      if (row === undefined) break
      if (row === 'trailer') this.ended = true
      else rows.push(row.fields)
      at = row === 'trailer' ? bytes.length : row.end
    }
    this.#rest = bytes.subarray(at)
    return rows
  }
}

/** The row that starts at `start`; undefined while it is incomplete. */
function rowAt(bytes: Buffer, start: number): 'trailer' | { fields: Buffer[]; end: number } | undefined {
  if (bytes.length < start + 2) return undefined
  const count = bytes.readInt16BE(start)
  if (count < 0) return 'trailer'
  const fields: Buffer[] = []
  let at = start + 2
  for (let field = 0; field < count; field++) {
    if (bytes.length < at + 4) return undefined
    // -1 is the length of a null.
    const end = at + 4 + Math.max(bytes.readInt32BE(at), 0)
    if (bytes.length < end) return undefined
    fields.push(bytes.subarray(at + 4, end))
    at = end
  }
  return { fields, end: at }
}
