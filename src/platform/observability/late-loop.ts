import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** For how long, in milliseconds, the event loop stood still of late: stops that ended within the last `withinMs`, or go on. */
export type LostTime = (withinMs: number) => number

// Stops are remembered for longer than any time that a client is given.
const rememberedMs = 600_000

/**
 * Measures when the event loop does not run: the process was stopped, starved, or busy with one long step. What clients sent
 * meanwhile lies unread, while every timer is over. The server's end ends the measuring.
 */
export function measureLostTime(server: Server, everyMs: number): LostTime {
  let stops: { readonly endedAt: number; readonly ms: number }[] = []
  let lookedAt = performance.now()
  const lateAt = (now: number) => (now - lookedAt > 2 * everyMs ? now - lookedAt - everyMs : 0)
  const timer = setInterval(() => {
    const now = performance.now()
    const ms = lateAt(now)
    if (ms > 0) stops = [...stops.filter(({ endedAt }) => now - endedAt < rememberedMs), { endedAt: now, ms }]
    lookedAt = now
  }, everyMs).unref()
  server.once('close', () => clearInterval(timer))
  return (withinMs) => {
    const now = performance.now()
    const ended = stops.filter(({ endedAt }) => now - endedAt < withinMs)
    return ended.reduce((sum, { ms }) => sum + ms, lateAt(now))
  }
}

const newest = Symbol('newest request of this connection')
type Connection = Socket & { [newest]?: IncomingMessage }
type Expired = NodeJS.ErrnoException

/**
 * Blames a client for a request that is not whole in time only when its bytes are missing: the time that the event loop lost
 * is given again, and so is what a request waits here with a part that nobody has read. `answer` tells the client of
 * everything else that is not HTTP.
 */
export function judgeTimeouts(
  server: Server,
  { requestMs, checkedEveryMs, lost }: { readonly requestMs: number; readonly checkedEveryMs: number; lost: LostTime },
  answer: (error: Expired, socket: Socket) => void,
): void {
  const judge = (error: Expired, socket: Connection, isMissing: () => boolean, withinMs: number, wasUnread = false) => {
    if (socket.destroyed || !isMissing()) return
    const isUnread = (socket[newest]?.readableLength ?? 0) > 0
    // When reading has begun, the rest may still be on its way from the system's buffers.
    const lostMs = Math.max(lost(withinMs), isUnread || wasUnread ? checkedEveryMs : 0)
    if (lostMs === 0) return answer(error, socket)
    const waitMs = Math.min(Math.max(lostMs, 2 * checkedEveryMs), requestMs)
    const timer = setTimeout(judge, waitMs, error, socket, isMissing, waitMs, isUnread)
    socket.once('close', () => clearTimeout(timer))
  }
  server.on('request', (request: IncomingMessage) => {
    const connection: Connection = request.socket
    connection[newest] = request
  })
  server.on('clientError', (error: Expired, socket: Connection) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return answer(error, socket)
    const known = socket[newest]
    const isBodyAwaited = known?.complete === false
    const isMissing = () => {
      const now = socket[newest]
      return now === known && !isBodyAwaited ? true : now?.complete === false
    }
    judge(error, socket, isMissing, requestMs)
  })
  // With a listener Node leaves it to us to close the connection.
  server.on('timeout', (socket: Socket) => {
    if (lost(socket.timeout ?? 0) > 0) socket.setTimeout(socket.timeout ?? 0)
    else socket.destroy()
  })
}
