import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A proxy that sends requests to the servers whose `/readyz` is 200, in turns, over connections that it keeps. */
export type ReadyProxy = {
  readonly baseUrl: string
  /** Requests that were not answered, or with a 5xx status; nothing is tried a second time. */
  readonly failures: readonly string[]
  /** Resolves when the server gets requests. */
  add(baseUrl: string): Promise<void>
  /** Resolves when the proxy has seen that a server is not ready, and every request sent there has begun to be answered. */
  left(baseUrl: string): Promise<void>
  /** Forgets a server that has stopped. */
  remove(baseUrl: string): void
  close(): Promise<void>
}

/** Starts a proxy that asks for readiness every `lookMs`. */
export async function startReadyProxy(lookMs: number): Promise<ReadyProxy> {
  const ready = new Map<string, boolean>()
  const failures: string[] = []
  // Like common proxies it keeps connections for as long as the server does.
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  /** Requests without an answer yet, by server. */
  const waiting = new Map<string, number>()
  const count = (server: string, change: number) => waiting.set(server, (waiting.get(server) ?? 0) + change)
  let turn = 0
  let closed = false

  const fail = (response: ServerResponse, what: string) => {
    failures.push(what)
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  }
  const forward = (incoming: IncomingMessage, response: ServerResponse) => {
    const servers = [...ready].filter(([, isReady]) => isReady).map(([server]) => server)
    const server = servers[turn++ % servers.length]
    const what = `${incoming.method} ${incoming.url} to ${server}`
    if (server === undefined) return fail(response, `${what}: no server is ready`)
    const { method, headers } = incoming
    count(server, 1)
    let isWaiting = true
    const begun = () => {
      if (isWaiting) count(server, -1)
      isWaiting = false
    }
    const asked = request(server + incoming.url, { method, headers: endToEnd(headers), agent }, (answer) => {
      begun()
      const { statusCode = 502, headers: answered } = answer
      if (statusCode >= 500)
        answer.once('data', (body) => failures.push(`${what}: ${statusCode} ${String(body).slice(0, 300)}`))
      response.writeHead(statusCode, endToEnd(answered))
      answer.on('error', (error) => fail(response, `${what} broke off: ${error.message}`))
      answer.pipe(response)
    })
    asked.on('error', (error) => {
      begun()
      fail(response, `${what}: ${error.message}`)
    })
    incoming.pipe(asked)
  }
  // A client that is too busy to read would take the end of an idle connection for that of its answer.
  const server = createServer({ keepAliveTimeout: 0 }, forward)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const look = async (one: string) => {
    while (!closed && ready.has(one)) {
      const answer = await fetch(`${one}/readyz`).catch(() => undefined)
      await answer?.arrayBuffer()
      if (ready.has(one)) ready.set(one, answer?.status === 200)
      await sleep(lookMs)
    }
  }
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failures,
    add: async (one) => {
      ready.set(one, false)
      void look(one)
      while (!ready.get(one)) await sleep(lookMs)
    },
    left: async (one) => {
      while (ready.get(one) === true || (waiting.get(one) ?? 0) > 0) await sleep(5)
    },
    remove: (one) => void ready.delete(one),
    close: async () => {
      closed = true
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Without the headers that belong to one connection. */
function endToEnd({ connection: _, 'keep-alive': __, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers
}
