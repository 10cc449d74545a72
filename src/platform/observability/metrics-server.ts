import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from './metrics.js'

/** A small server for processes that have no other: `/metrics` and `/healthz`. */
export type MetricsServer = { readonly port: number; close(): Promise<void> }

/** Listens on the address; rejects with the system's error when it is taken. */
export async function serveMetrics(
  metrics: Metrics,
  host: string,
  port: number,
  isAlive: () => boolean = () => true,
): Promise<MetricsServer> {
  const server = createServer(async (request, response) => {
    const path = request.url?.split('?', 1)[0]
    if (path === '/metrics') {
      const text = await metrics.text()
      response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' }).end(text)
    } else if (path === '/healthz') {
      const [status, said] = isAlive() ? [200, 'alive'] : [503, 'a process is down']
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ status: said }))
    } else {
      response.writeHead(404).end()
    }
  })
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
