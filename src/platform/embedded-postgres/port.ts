import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { unavailable } from './failures.js'

/** Whether a server could listen on this port of 127.0.0.1 now. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/**
 * Chooses a random free port below the range from which the system takes ports for outgoing connections, so that it
 * is likely to be free at the next start too.
 */
export async function choosePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(15_000, 32_000)
    if (await isPortFree(port)) return port
  }
  throw unavailable('no free TCP port was found between 15000 and 32000 on 127.0.0.1')
}
