import { ServiceError } from '../../kernel/errors.js'

/** A field of a form, or a file with the name that its sender gave it. */
export type FormPart = {
  readonly name: string
  readonly fileName: string | undefined
  /** Its bytes; what is not taken is passed over when the next part is asked for. */
  readonly content: AsyncIterable<Buffer>
}

const headerEnd = Buffer.from('\r\n\r\n')
const mostHeaderBytes = 4_096
const mostParts = 100

/** The parts of a form as a browser sends it with files (RFC 7578), one after the other. Throws `request-malformed`. */
export async function* formParts(contentType: string, body: AsyncIterable<Buffer>): AsyncGenerator<FormPart> {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw malformed('it has no boundary')
  const input = new Lookahead(body)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  for await (const _before of input.until(delimiter));
  for (let parts = 0; ; parts++) {
    const after = (await input.exactly(2)).toString('latin1')
    if (after === '--') return
    if (after !== '\r\n') throw malformed('its boundary stands within a line')
    if (parts === mostParts) throw malformed(`it has more than ${mostParts} parts`)
    const part = partOf(await headOf(input))
    const content = input.until(delimiter)
    yield { ...part, content }
    for await (const _rest of content);
  }
}

async function headOf(input: Lookahead): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of input.until(headerEnd)) {
    bytes += piece.length
    if (bytes > mostHeaderBytes) throw malformed('a part has too long a header')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function partOf(head: string): Pick<FormPart, 'name' | 'fileName'> {
  const [, parameters] =
    /^content-disposition:[ \t]*form-data((?:;[ \t]*[\w*-]+="[^"\r\n]*")+)[ \t]*$/im.exec(head) ?? []
  const given = new Map(
    [...(parameters ?? '').matchAll(/([\w*-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name.toLowerCase(),
      value,
    ]),
  )
  const name = given.get('name')
  if (name === undefined) throw malformed('a part has no name')
  return { name, fileName: given.get('filename') }
}

/** Bytes that are looked at before they are taken; it holds little more than one chunk. */
class Lookahead {
  // The first boundary has no line before it.
  #bytes = Buffer.from('\r\n')
  readonly #body: AsyncIterator<Buffer>

  constructor(body: AsyncIterable<Buffer>) {
    this.#body = body[Symbol.asyncIterator]()
  }

  /** Takes what stands before these bytes, and passes over them. */
  async *until(bytes: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#bytes.indexOf(bytes)
      if (at >= 0) {
        const before = this.#take(at)
        this.#take(bytes.length)
        if (before.length > 0) yield before
        return
      }
      const safe = this.#bytes.length - bytes.length + 1
      if (safe > 0) yield this.#take(safe)
      await this.#more()
    }
  }

  async exactly(count: number): Promise<Buffer> {
    while (this.#bytes.length < count) await this.#more()
    return this.#take(count)
  }

  #take(count: number): Buffer {
    const taken = this.#bytes.subarray(0, count)
    this.#bytes = this.#bytes.subarray(count)
    return taken
  }

  async #more(): Promise<void> {
    const next = await this.#body.next()
    if (next.done) throw malformed('it ends within a part')
    this.#bytes = Buffer.concat([this.#bytes, next.value])
  }
}

function malformed(why: string): ServiceError {
  return new ServiceError('request-malformed', `the form cannot be read: ${why}`)
}
