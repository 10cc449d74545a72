import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

// Requests of this connection that arrived before the answer to the one before them was sent; `none` while only one is
// being answered. A property of the socket, since a WeakMap costs more than routing.
const waiting = Symbol('requests sent ahead')
const none: (() => void)[] = []
type Connection = Socket & { [waiting]?: (() => void)[] | undefined }

/**
 * Hands the requests of one connection to `answer` one after the other, however many the client sends ahead (RFC 9112
 * 9.3.2): what an answer needs (an open file, a statement, memory) is needed once for each connection. A connection with
 * more than `most` waiting requests is cut.
 */
export function answerInOrder(answer: RequestListener, most: number): RequestListener {
  const start = (connection: Connection, request: IncomingMessage, response: ServerResponse) => {
    response.once('close', () => startNext(connection))
    answer(request, response as Parameters<RequestListener>[1])
  }
  const startNext = (connection: Connection) => {
    const next = connection[waiting]?.shift()
    if (next && !connection.destroyed && !connection.writableEnded) next()
    else connection[waiting] = undefined
  }
  return (request, response) => {
    const connection: Connection = request.socket
    // The parser reads on to the end of what had arrived.
    if (connection.destroyed) return
    const ahead = connection[waiting]
    if (ahead === undefined) {
      connection[waiting] = none
      start(connection, request, response)
    } else if (ahead.length >= most) connection.destroy()
    else if (ahead === none) connection[waiting] = [() => start(connection, request, response)]
    else ahead.push(() => start(connection, request, response))
  }
}
