import type pg from 'pg'
import { type Connection, sqlState, toStoreError } from './connection.js'

/**
 * Rows of `copy (...) to stdout (format binary)` as their raw fields, a batch per chunk received; the caller's
 * connection is busy until the last one, and lost when not all are taken. Fields are views into the driver's buffer: use or copy
 * them before asking for more. The binary format is used because the text format escapes backslashes and line breaks.
 */
export async function* copyRows(client: Connection, sql: string): AsyncGenerator<Buffer[][]> {
  const copy = client.query(new CopyOut(sql))
  let over = false
  try {
    for (;;) {
      const rows = await copy.take()
      if (rows === undefined) break
      yield rows
    }
    over = true
  } catch (error) {
    over = sqlState(error) !== undefined
    throw toStoreError(error)
  } finally {
    // The server would go on sending, and the next statement, even a rollback, would wait behind it for ever.
    if (!over) client.connection.stream.destroy()
    else client.connection.stream.resume()
  }
}

/** A COPY as the driver runs it. The server stops sending while rows wait. */
class CopyOut implements pg.Submittable {
  readonly #sql: string
  #connection: pg.Connection | undefined
  /** One for each row, as the protocol has it; the first one begins with a header, and the last one is a trailer. */
  #messages: Buffer[] = []
  #inHeader = true
  #ended = false
  #answered = false
  #error: Error | undefined
  #wake: () => void = () => undefined

  constructor(sql: string) {
    this.#sql = sql
  }

  /** The rows of the next chunk, undefined behind the last one. The driver may overwrite those that it gave before. */
  async take(): Promise<Buffer[][] | undefined> {
    for (;;) {
      if (this.#error) throw this.#error
      const rows = this.#cut()
      if (rows.length > 0) return rows
      if (this.#answered && !this.#ended) throw new Error('the COPY stream ended before its last row')
      if (this.#answered) return undefined
      this.#connection?.stream.resume()
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #cut(): Buffer[][] {
    const rows: Buffer[][] = []
    for (const message of this.#messages) {
      const start = this.#inHeader ? headerBytes + message.readUInt32BE(headerBytes - 4) : 0
      this.#inHeader = false
      const fields = fieldsOf(message, start)
      if (fields) rows.push(fields)
      else this.#ended = true
    }
    this.#messages = []
    return rows
  }

  submit(connection: pg.Connection): void {
    this.#connection = connection
    connection.query(this.#sql)
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#messages.push(chunk)
    this.#connection?.stream.pause()
    this.#wake()
  }

  handleCommandComplete(): void {
    this.#answered = true
    this.#wake()
  }

  handleReadyForQuery(): void {}

  handleError(error: Error): void {
    this.#error = error
    this.#wake()
  }
}

// "PGCOPY\n\377\r\n\0", 4 bytes of flags, 4 bytes of header extension length.
const headerBytes = 19

/** The fields of a row; undefined for the trailer. */
function fieldsOf(bytes: Buffer, start: number): Buffer[] | undefined {
  const count = bytes.readInt16BE(start)
  if (count < 0) return undefined
  const fields: Buffer[] = []
  let at = start + 2
  for (let field = 0; field < count; field++) {
    // -1 is the length of a null.
    const end = at + 4 + Math.max(bytes.readInt32BE(at), 0)
    fields.push(bytes.subarray(at + 4, end))
    at = end
  }
  return fields
}
