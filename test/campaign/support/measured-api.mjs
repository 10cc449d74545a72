// Is imported into the process that is measured: answers each line on a socket with what the process holds after a
// collection of garbage.
import { createServer } from 'node:net'

const { MEASURED_SOCKET: address } = process.env
if (address && process.argv[2] === 'api') {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', () => {
      globalThis.gc()
      const { heapUsed, external, arrayBuffers } = process.memoryUsage()
      socket.write(`${JSON.stringify({ heapUsed, external, arrayBuffers })}\n`)
    })
  })
  server.listen(address)
  server.unref()
}
