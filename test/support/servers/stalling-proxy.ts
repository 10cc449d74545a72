import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that misbehaves on demand. */
export type StallingProxy = {
  readonly port: number
  /** `pass`: as a wire; `stall`: holds everything back and accepts connections that it does not carry; `refuse`: ends them. */
  mode: 'pass' | 'stall' | 'refuse'
  /** Ends every connection that stands. */
  cut(): void
  /** How many connections stand. */
  readonly connections: number
  /** How many connections were refused. */
  readonly refused: number
  close(): Promise<void>
}

/** Starts a proxy in front of a port of this machine; a function is asked anew for every connection. */
export async function startProxy(targetPort: number | (() => number)): Promise<StallingProxy> {
  const sockets = new Set<Socket>()
  const waiting = new Set<() => void>()
  let mode: StallingProxy['mode'] = 'pass'
  let refused = 0
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // A broken connection is what this is for.
    socket.on('error', () => undefined)
  }
  const forward = (from: Socket, to: Socket) => {
    from.on('data', (chunk) => {
      const send = () => {
        waiting.delete(send)
        if (!to.destroyed) to.write(chunk)
      }
      if (mode === 'stall') waiting.add(send)
      else send()
    })
    from.on('close', () => to.destroy())
  }
  const server = createServer((client) => {
    track(client)
    if (mode === 'refuse') {
      client.destroy()
      refused++
      return
    }
    const target = connect(typeof targetPort === 'number' ? targetPort : targetPort(), '127.0.0.1')
    track(target)
    forward(client, target)
    forward(target, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port')
  return {
    port: address.port,
    get mode() {
      return mode
    },
    set mode(next) {
      mode = next
      if (next !== 'stall') for (const send of [...waiting]) send()
    },
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    get connections() {
      return sockets.size / 2
    },
    get refused() {
      return refused
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
