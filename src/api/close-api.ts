import type { FastifyInstance } from 'fastify'

const pollMs = 100

/**
 * Stops listening and lets running answers finish for at most `graceMs`, then closes all connections. The framework closes
 * only connections that are idle at the start, so a kept-alive one is closed here when its answer has been sent.
 */
export async function closeApi(app: FastifyInstance, graceMs: number): Promise<void> {
  const { server } = app
  const idle = setInterval(() => server.closeIdleConnections(), pollMs)
  const late = setTimeout(() => server.closeAllConnections(), graceMs)
  try {
    await app.close()
  } finally {
    clearInterval(idle)
    clearTimeout(late)
  }
}
