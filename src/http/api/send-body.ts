import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { type ByteRange, tooShort } from '../../release/folder/body.js'
import type { Download } from './downloads.js'
import type { OpenFile } from './open-files.js'

export type OpenBody = { readonly length: number; readonly parts: readonly OpenPart[] }

/** A part of a file that is open, or bytes in memory. */
export type OpenPart = (ByteRange & { readonly file: OpenFile }) | Buffer

/** Closes the files of a body. */
export async function closeBody({ parts }: Pick<OpenBody, 'parts'>): Promise<void> {
  for (const part of parts) if (!(part instanceof Uint8Array)) await part.file.close()
}

// Each reader has a buffer of its own; larger ones are no faster, smaller ones share the memory of many readers.
const largestChunk = 262_144
const smallestChunk = 16_384
const chunksTogether = 64 * 1_048_576
let readers = 0

/**
 * Answers with an open body, under the status and headers that were set, and ends its files and the download. One buffer is
 * filled again each time the connection has taken its bytes: a stream would allocate every chunk, which takes half as
 * long again. A file that turns out to be too short cuts the connection, since its length has been promised.
 */
export function sendBody(reply: FastifyReply, body: OpenBody, download: Download): FastifyReply {
  const { raw: response, request, log } = reply.hijack()
  response.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  readers++
  copyBody(body, response, download)
    .finally(() => {
      readers--
      download.end()
      return closeBody(body)
    })
    .then(
      (sent) => {
        if (sent < body.length) log.info({ requestId: request.id, sent }, 'a reader went away before the end of a file')
      },
      (err: unknown) => {
        response.destroy()
        log.error({ requestId: request.id, err }, 'a file could not be sent to its end')
      },
    )
  return reply
}

/** Returns how many bytes were sent: fewer than there are when the reader has gone away. */
async function copyBody({ parts, length }: OpenBody, response: ServerResponse, download: Download): Promise<number> {
  const share = Math.max(smallestChunk, Math.floor(chunksTogether / readers))
  const chunk = Buffer.allocUnsafeSlow(Math.min(largestChunk, share, length))
  let sent = 0
  for (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const bytes = await read(part, at, chunk)
      const delayMs = download.delayMs(bytes.length)
      if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
      if (!(await isTaken(response, bytes))) return sent
      at += bytes.length
      sent += bytes.length
    }
  }
  response.end()
  return sent
}

/** The next bytes of a part, in `chunk` where they come from a file. */
async function read(part: OpenPart, at: number, chunk: Buffer): Promise<Buffer> {
  if (part instanceof Uint8Array) return part.subarray(at)
  const { file, path, offset, length } = part
  const { bytesRead } = await file.handle.read(chunk, 0, Math.min(chunk.length, length - at), offset + at)
  if (bytesRead === 0) throw tooShort(path, offset + at, offset + length)
  return bytesRead === chunk.length ? chunk : chunk.subarray(0, bytesRead)
}

/** Resolves when the connection has taken these bytes; false when it is closed. */
async function isTaken(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  const { socket } = response.req
  if (socket.destroyed) return false
  return await new Promise((resolve) => {
    // The callback of `write` is not called when the connection closes first.
    const gone = () => resolve(false)
    socket.once('close', gone)
    response.write(bytes, (error) => {
      socket.off('close', gone)
      resolve(!error)
    })
  })
}
