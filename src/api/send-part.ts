import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { ServiceError } from '../domain/errors.js'
import type { ByteRange } from '../publishing/folder/served-file.js'
import type { Download } from './downloads.js'
import type { OpenFile } from './open-files.js'

/** A part of a file that is open. */
export type OpenPart = ByteRange & { readonly file: OpenFile }

// Each reader has a buffer of its own; larger ones are no faster, smaller ones share the memory of many readers.
const largestChunk = 262_144
const smallestChunk = 16_384
const chunksTogether = 64 * 1_048_576
let readers = 0

/**
 * Answers with a part of an open file, under the status and headers that were set, and ends file and download. One buffer is
 * filled again each time the connection has taken its bytes: a stream would allocate every chunk, which takes half as
 * long again. A file that turns out to be too short cuts the connection, since its length has been promised.
 */
export function sendPart(reply: FastifyReply, part: OpenPart, download: Download): FastifyReply {
  const { raw: response, request, log } = reply.hijack()
  response.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  readers++
  copyPart(part, response, download)
    .finally(() => {
      readers--
      download.end()
      return part.file.close()
    })
    .then(
      (sent) => {
        if (sent < part.length) log.info({ requestId: request.id, sent }, 'a reader went away before the end of a file')
      },
      (err: unknown) => {
        response.destroy()
        log.error({ requestId: request.id, err }, 'a file could not be sent to its end')
      },
    )
  return reply
}

/** Returns how many bytes were sent: fewer than there are when the reader has gone away. */
async function copyPart(
  { file, path, offset, length }: OpenPart,
  response: ServerResponse,
  download: Download,
): Promise<number> {
  const share = Math.max(smallestChunk, Math.floor(chunksTogether / readers))
  const chunk = Buffer.allocUnsafeSlow(Math.min(largestChunk, share, length))
  let sent = 0
  while (sent < length) {
    const { bytesRead } = await file.handle.read(chunk, 0, Math.min(chunk.length, length - sent), offset + sent)
    if (bytesRead === 0) {
      throw new ServiceError(
        'release-corrupt',
        `${path} ends after ${offset + sent} bytes, expected ${offset + length}`,
      )
    }
    const delayMs = download.delayMs(bytesRead)
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
    if (!(await isTaken(response, bytesRead === chunk.length ? chunk : chunk.subarray(0, bytesRead)))) return sent
    sent += bytesRead
  }
  response.end()
  return sent
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
