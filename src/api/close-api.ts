import type { FastifyInstance } from 'fastify'

const pollMs = 100

/**
 * Stops listening and lets running answers finish, for at most `graceMs`; then whoever still reads is cut off. A
 * connection that was kept open for a next request is closed as soon as its answer has been sent, since the framework
 * closes only those that are idle at the start.
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
