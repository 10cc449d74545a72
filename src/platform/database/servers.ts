import net from 'node:net'
import type { DatabaseAddress } from '../../kernel/database-address.js'

/** The servers of one address, of which one is in use: all pools of the process, and the queue, follow it. */
export type Servers = {
  readonly count: number
  /** The address of the one in use. */
  readonly current: string
  /** Reports that this server cannot be reached: the next one is used, unless another is in use already. */
  failed(server: string): void
}

const known = new Map<string, Servers>()

/** The servers of the address, which are shared by all of this process. */
export function serversOf({ servers, target }: DatabaseAddress): Servers {
  const name = JSON.stringify([servers, target])
  const found = known.get(name) ?? createServers(servers)
  known.set(name, found)
  return found
}

function createServers(servers: DatabaseAddress['servers']): Servers {
  let at = 0
  return {
    count: servers.length,
    get current() {
      return servers[at] ?? servers[0]
    },
    failed: (server) => {
      if (servers[at] === server) at = (at + 1) % servers.length
    },
  }
}

/** A socket that connects to the server in use, whichever of them it is told to connect to. */
export function followingSocket(servers: Servers): net.Socket {
  const socket = new net.Socket()
  const connect = socket.connect.bind(socket) as (port: number, host: string) => net.Socket
  return Object.assign(socket, {
    connect: () => {
      const server = servers.current
      const { hostname, port } = new URL(server)
      socket.once('error', () => servers.failed(server))
      return connect(Number(port || 5432), hostname)
    },
  })
}
