import type { FastifyInstance } from 'fastify'

const pollMs = 100

export type Closing = {
  /** Until then it goes on answering while `/readyz` answers 503, so that a proxy sends requests elsewhere. */
  readonly drained: Promise<unknown>
  /** The time that running answers have afterwards. */
  readonly graceMs: number
}

/**
 * Drains, stops listening, lets running answers finish, and closes all connections. The caller aborts `stopping` of the
 * API first. The framework closes only connections that are idle when it stops listening, so a kept-alive one is closed
 * here when its answer has been sent.
 */
export async function closeApi(app: FastifyInstance, { drained, graceMs }: Closing): Promise<void> {
  const { server } = app
  // A client that kept its connection would send its next request while the connection is being closed.
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))
  await drained
  const idle = setInterval(() => server.closeIdleConnections(), pollMs)
  const late = setTimeout(() => server.closeAllConnections(), graceMs)
  try {
    await app.close()
  } finally {
    clearInterval(idle)
    clearTimeout(late)
  }
}
