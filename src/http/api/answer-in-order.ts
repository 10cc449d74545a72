import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse }

// What a connection is being asked: the request that is being answered, and those that arrived before its answer was
// sent. A property of the socket, since a WeakMap costs more than routing.
const asked = Symbol('requests of this connection')
type Asked = { current: Exchange; ahead: Exchange[]; ends: boolean }
type Connection = Socket & { [asked]?: Asked | undefined }

/**
 * Hands the requests of one connection to `answer` one after the other, however many the client sends ahead (RFC 9112
 * 9.3.2): what an answer needs (an open file, a statement, memory) is needed once for each connection. A connection with
 * more than `most` waiting requests is cut.
 */
export function answerInOrder(answer: RequestListener, most: number): RequestListener {
  const start = (connection: Connection, { request, response }: Exchange) => {
    response.once('close', () => startNext(connection))
    answer(request, response as Parameters<RequestListener>[1])
  }
  const startNext = (connection: Connection) => {
    const of = connection[asked]
    const next = of?.ahead.shift()
    if (of && next && !connection.destroyed && !connection.writableEnded) {
      of.current = next
      if (of.ends && of.ahead.length === 0) next.response.shouldKeepAlive = false
      start(connection, next)
      return
    }
    connection[asked] = undefined
    if (of?.ends) connection.end()
  }
  return (request, response) => {
    const connection: Connection = request.socket
    // The parser reads on to the end of what had arrived.
    if (connection.destroyed) return
    const exchange = { request, response }
    const of = connection[asked]
    if (of === undefined) {
      connection[asked] = { current: exchange, ahead: [], ends: false }
      start(connection, exchange)
    } else if (of.ahead.length >= most) connection.destroy()
    else of.ahead.push(exchange)
  }
}

/**
 * For a connection on which something arrived that is not HTTP: the requests that arrived whole before it are answered,
 * then the connection ends (RFC 9112 9.6). False: nothing is being answered, or the request that is cannot be read to its
 * end, and the client may be told so.
 */
export function endAfterAnswers(connection: Connection): boolean {
  const of = connection[asked]
  if (!of || (!of.current.request.complete && !of.current.response.headersSent)) return false
  of.ends = true
  of.ahead = of.ahead.filter(({ request }) => request.complete)
  if (of.ahead.length === 0) of.current.response.shouldKeepAlive = false
  return true
}
