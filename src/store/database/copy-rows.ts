import type pg from 'pg'
import { type Connection, toStoreError } from './connection.js'

// "PGCOPY\n\377\r\n\0", 4 bytes of flags, 4 bytes of header extension length.
const headerBytes = 19

/**
 * Rows of `copy (...) to stdout (format binary)` as their raw fields, a batch per chunk received; the caller's
 * connection is busy until the last one, and lost when not all are taken. Fields are views into the chunk: use or copy
 * them before asking for more. The binary format is used because the text format escapes backslashes and line breaks.
 */
export async function* copyRows(client: Connection, sql: string): AsyncGenerator<Buffer[][]> {
  const copy = client.query(new CopyOut(sql))
  let ended = false
  try {
    for (;;) {
      const rows = await copy.next()
      if (rows === undefined) break
      if (rows.length > 0) yield rows
    }
    ended = true
  } catch (error) {
    throw toStoreError(error)
  } finally {
    if (!ended) cut(client)
  }
}

type Wire = { readonly stream: { pause(): void; resume(): void; destroy(): void } }

/**
 * A COPY as the driver's own parser finds it. The server sends a message per row; those of one chunk from the socket are
 * a batch, and the socket rests until it was taken: nothing is copied, nothing piles up.
 */
class CopyOut implements pg.Submittable {
  readonly #sql: string
  #socket: Wire['stream'] | undefined
  #rows: Buffer[][] = []
  #state: 'head' | 'rows' | 'trailer' | 'ended' = 'head'
  #failure: unknown
  #wake: (() => void) | undefined

  constructor(sql: string) {
    this.#sql = sql
  }

  /** The next batch; undefined after the last. Throws what the server or the connection said. */
  async next(): Promise<Buffer[][] | undefined> {
    while (this.#rows.length === 0 && this.#state !== 'ended' && this.#failure === undefined) {
      this.#socket?.resume()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#rows.length > 0) return this.#rows.splice(0)
    if (this.#failure !== undefined) throw this.#failure
    return undefined
  }

  submit(connection: pg.Connection): void {
    this.#socket = (connection as unknown as Wire).stream
    connection.query(this.#sql)
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    let at = 0
    if (this.#state === 'head') {
      at = headerBytes + chunk.readUInt32BE(headerBytes - 4)
      this.#state = 'rows'
      if (at === chunk.length) return
    }
    const fieldCount = chunk.readInt16BE(at)
    if (fieldCount < 0) {
      this.#state = 'trailer'
      return
    }
    if (this.#rows.length === 0) {
      this.#socket?.pause()
      // The parser goes on to the end of its chunk first.
      process.nextTick(() => this.#wake?.())
    }
    this.#rows.push(fieldsOf(chunk, at + 2, fieldCount))
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    if (this.#state !== 'trailer') this.#failure ??= new Error('the COPY stream ended before its last row')
    this.#state = 'ended'
    this.#socket?.resume()
    this.#wake?.()
  }

  handleError(error: unknown): void {
    this.#failure = error
    // The server's answer to it is still to come.
    this.#socket?.resume()
    this.#wake?.()
  }
}

/**
 * Ends the connection of a COPY that was left before its end: the server would go on sending, and the next statement,
 * even a rollback, would wait behind it for ever.
 */
function cut(client: Connection): void {
  const { connection } = client as unknown as { readonly connection: Wire }
  connection.stream.destroy()
}

function fieldsOf(row: Buffer, start: number, count: number): Buffer[] {
  const fields: Buffer[] = []
  let at = start
  for (let field = 0; field < count; field++) {
    const length = row.readInt32BE(at)
    at += 4
    fields.push(row.subarray(at, at + Math.max(length, 0)))
    at += Math.max(length, 0)
  }
  return fields
}
