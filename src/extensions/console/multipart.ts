import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { ServiceError } from '../../kernel/errors.js'

/** A field of a form, or a file with the name that its sender gave it. */
export type FormPart = {
  readonly name: string
  readonly fileName: string | undefined
  /** Its bytes; what is not taken is passed over when the next part is asked for. */
  readonly content: AsyncIterable<Buffer>
}

const limits = { parts: 100, headerSize: 4_096, fieldSize: 4_096 }

/**
 * The parts of a form as a browser sends it with files (RFC 7578), one after the other. Throws `request-malformed`,
 * `request-too-large` for a field, and what `body` throws.
 */
export async function* formParts(contentType: string, body: AsyncIterable<Buffer>): AsyncGenerator<FormPart> {
  const parts = new PassThrough({ objectMode: true })
  let file: Readable | undefined
  const fail = (failure: unknown) => {
    const refusal = failure instanceof ServiceError ? failure : malformed(failure)
    file?.destroy(refusal)
    parts.destroy(refusal)
  }
  const parser = parserOf(contentType)
  parser.on('field', (name, value, _, isCut) => {
    if (isCut) fail(new ServiceError('request-too-large', `a field has at most ${limits.fieldSize} bytes`))
    else parts.write({ name, fileName: undefined, content: Readable.from([Buffer.from(value)]) } satisfies FormPart)
  })
  parser.on('file', (name = '', content, fileName) => {
    file = content
    // Whoever reads it learns of a failure; nobody may be reading it.
    content.on('error', () => undefined)
    parts.write({ name, fileName, content } satisfies FormPart)
  })
  parser.on('partsLimit', () => fail(malformed(`it has more than ${limits.parts} parts`)))
  pipeline(Readable.from(body), parser).then(() => parts.end(), fail)
  try {
    for await (const part of parts as AsyncIterable<FormPart>) {
      yield part
      if (part.fileName !== undefined) (part.content as Readable).resume()
    }
  } finally {
    parser.destroy()
  }
}

function parserOf(contentType: string) {
  try {
    return new Busboy({ headers: { 'content-type': contentType } as BusboyHeaders, limits, preservePath: true })
  } catch (error) {
    throw malformed(error)
  }
}

function malformed(why: unknown): ServiceError {
  const reason = why instanceof Error ? why.message : String(why)
  return new ServiceError('request-malformed', `the form cannot be read: ${reason}`)
}
