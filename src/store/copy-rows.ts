import { to as copyTo } from 'pg-copy-streams'
import { type Connection, toStoreError } from './connection.js'

// "PGCOPY\n\377\r\n\0", 4 bytes of flags, 4 bytes of header extension length.
const headerBytes = 19
// What is taken from the server while the reader is busy with what it has.
const readAheadBytes = 512 * 1024

/**
 * Rows of `copy (...) to stdout (format binary)` as their raw fields, a batch per chunk received; the caller's
 * connection is busy until the last one, and lost when not all are taken. Fields are views into the chunk: use or copy
 * them before asking for more. The binary format is used because the text format escapes backslashes and line breaks.
 */
export async function* copyRows(client: Connection, sql: string): AsyncGenerator<Buffer[][]> {
  const stream = client.query(copyTo(sql, { highWaterMark: readAheadBytes }))
  let pending: Buffer = Buffer.alloc(0)
  let headerSeen = false
  let ended = false
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      if (!headerSeen) {
        if (pending.length < headerBytes) continue
        pending = pending.subarray(headerBytes + pending.readUInt32BE(headerBytes - 4))
        headerSeen = true
      }
      const { rows, rest } = cutRows(pending)
      if (rows.length > 0) yield rows
      pending = rest
    }
    ended = true
  } catch (error) {
    throw toStoreError(error)
  } finally {
    stream.destroy()
    if (!ended) cut(client)
  }
  // The trailer: a field count of -1.
  if (pending.length !== 2 || pending.readInt16BE(0) !== -1)
    throw new Error('the COPY stream ended in the middle of a row')
}

/**
 * Ends the connection of a COPY that was left before its end: the server would go on sending, and the next statement,
 * even a rollback, would wait behind it for ever.
 */
function cut(client: Connection): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
  connection.stream.destroy()
}

function cutRows(data: Buffer): { rows: Buffer[][]; rest: Buffer } {
  const rows: Buffer[][] = []
  let at = 0
  while (data.length - at >= 2) {
    const fieldCount = data.readInt16BE(at)
    if (fieldCount < 0) break
    const fields: Buffer[] = []
    let cursor = at + 2
    for (let field = 0; field < fieldCount; field++) {
      if (data.length - cursor < 4) return { rows, rest: data.subarray(at) }
      const length = data.readInt32BE(cursor)
      cursor += 4
      if (length < 0) {
        fields.push(Buffer.alloc(0))
        continue
      }
      if (data.length - cursor < length) return { rows, rest: data.subarray(at) }
      fields.push(data.subarray(cursor, cursor + length))
      cursor += length
    }
    rows.push(fields)
    at = cursor
  }
  return { rows, rest: data.subarray(at) }
}
