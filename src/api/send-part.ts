import type { FileHandle } from 'node:fs/promises'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { ServiceError } from '../domain/errors.js'
import type { ByteRange } from '../publishing/release/releases.js'

/** A part of a file that is open. */
export type OpenPart = ByteRange & { readonly handle: FileHandle }

// Each reader has a buffer of its own; larger ones are no faster.
const chunkBytes = 262_144

/**
 * Answers with a part of an open file, under the status and headers that were set, and closes it. One buffer is filled
 * again each time the connection has taken what was in it: a stream would allocate every chunk, which takes half as long
 * again. A file that turns out to be too short cuts the connection, since its length has been promised.
 */
export function sendPart(reply: FastifyReply, part: OpenPart): FastifyReply {
  const { raw: response, request, log } = reply.hijack()
  response.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  copyPart(part, response)
    .finally(() => part.handle.close())
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
async function copyPart({ handle, path, offset, length }: OpenPart, response: ServerResponse): Promise<number> {
  const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, length))
  let sent = 0
  while (sent < length) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, length - sent), offset + sent)
    if (bytesRead === 0) {
      throw new ServiceError(
        'release-corrupt',
        `${path} ends after ${offset + sent} bytes, expected ${offset + length}`,
      )
    }
    if (!(await isTaken(response, bytesRead === chunk.length ? chunk : chunk.subarray(0, bytesRead)))) return sent
    sent += bytesRead
  }
  response.end()
  return sent
}

/** Resolves when the connection needs these bytes no more; false when it is closed. */
async function isTaken(response: ServerResponse, bytes: Buffer): Promise<boolean> {
  const { socket } = response.req
  if (socket.destroyed) return false
  return await new Promise((resolve) => {
    // An answer that waits for an earlier one on its connection is not told when that closes.
    const gone = () => resolve(false)
    socket.once('close', gone)
    response.write(bytes, (error) => {
      socket.off('close', gone)
      resolve(!error)
    })
  })
}
