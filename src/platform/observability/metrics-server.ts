import { createServer, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { judgeTimeouts, measureLostTime } from './late-loop.js'
import type { Metrics } from './metrics.js'

// As of requests to the API.
const requestMs = 30_000
const checkedEveryMs = 1_000

/** A small server for processes that have no other: `/metrics` and `/healthz`. */
export type MetricsServer = { readonly port: number; close(): Promise<void> }

/** Listens on the address; rejects with the system's error when it is taken. */
export async function serveMetrics(
  metrics: Metrics,
  host: string,
  port: number,
  isAlive: () => boolean = () => true,
): Promise<MetricsServer> {
  const times = { headersTimeout: requestMs, requestTimeout: requestMs, connectionsCheckingInterval: checkedEveryMs }
  const server = createServer(times, async (request, response) => {
    const path = request.url?.split('?', 1)[0]
    if (path === '/metrics') {
      const text = await metrics.text()
      response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' }).end(text)
    } else if (path === '/healthz') {
      const [status, text] = isAlive() ? [200, 'alive'] : [503, 'a process is down']
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ status: text }))
    } else {
      response.writeHead(404).end()
    }
  })
  judgeTimeouts(server, { requestMs, checkedEveryMs, lost: measureLostTime(server, checkedEveryMs) }, refuse)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function refuse({ code }: NodeJS.ErrnoException, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const status = code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
}
