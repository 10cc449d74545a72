import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { LostTime } from '../../platform/observability/late-loop.js'
import type { Log } from '../../platform/observability/log.js'
import { clientNetwork } from './client-network.js'
import type { ApiLimits } from './deps.js'
import type { ProxyTrust } from './proxy-trust.js'
import { warnSometimes } from './warn-sometimes.js'

// Above this share of all connections, those without a whole request are closed early.
const crowded = 0.8
const shortMs = 2_000
const checkedEveryMs = 100
// The share of all connections that one network (/24 of IPv4, /48 of IPv6) may have.
const networkShare = 0.25

type Connection = { readonly network: string; unanswered: number; waitingSince: number }

/**
 * Bounds the connections of all clients, of one address and of one network; those of trusted proxies are not counted by
 * address, since they carry everybody's requests. While it is crowded, connections on which no request has arrived whole
 * for 2 s are closed; when all places are taken, the network with the most of them gives up its oldest. So neither silence
 * nor a request that never ends keeps others out.
 */
export function limitConnections(
  server: Server,
  limits: Pick<ApiLimits, 'connections' | 'connectionsPerAddress'> & {
    readonly trusts: ProxyTrust
    readonly log: Log
    readonly lost: LostTime
  },
): void {
  const { connections, connectionsPerAddress, trusts, log, lost } = limits
  const connectionsPerNetwork = Math.max(2 * connectionsPerAddress, Math.floor(connections * networkShare))
  const warnRefused = warnSometimes(log)
  const open = new Map<Socket, Connection>()
  const counts = new Map<string, number>()
  // Connections without a whole request by network, the oldest first.
  const waiting = new Map<string, Set<Socket>>()
  let checkedAt = Number.NEGATIVE_INFINITY

  const wait = (socket: Socket, connection: Connection) => {
    connection.waitingSince = performance.now()
    const ofNetwork = waiting.get(connection.network)
    if (ofNetwork) ofNetwork.add(socket)
    else waiting.set(connection.network, new Set([socket]))
  }
  const waitNoLonger = (socket: Socket, { network }: Connection) => {
    const ofNetwork = waiting.get(network)
    ofNetwork?.delete(socket)
    if (ofNetwork?.size === 0) waiting.delete(network)
  }
  const forget = (socket: Socket) => {
    const connection = open.get(socket)
    if (!connection) return
    open.delete(socket)
    waitNoLonger(socket, connection)
  }
  const close = (socket: Socket) => {
    forget(socket)
    socket.destroy()
  }
  const closeSlow = () => {
    const now = performance.now()
    if (open.size < connections * crowded || now - checkedAt < checkedEveryMs) return
    checkedAt = now
    // After a stop what arrived meanwhile is not read yet.
    if (lost(shortMs) > 0) return
    for (const [socket, { unanswered, waitingSince }] of open) {
      if (unanswered === 0 && now - waitingSince > shortMs) close(socket)
    }
  }
  const closeOldest = () => {
    let most: Set<Socket> | undefined
    for (const sockets of waiting.values()) if (sockets.size > (most?.size ?? 0)) most = sockets
    const [oldest] = most ?? []
    if (oldest) close(oldest)
  }
  const count = (socket: Socket, key: string, most: number, message: string): boolean => {
    const before = counts.get(key) ?? 0
    if (before >= most) {
      warnRefused({ address: key, limit: most }, `connections are refused: ${message}`)
      return false
    }
    counts.set(key, before + 1)
    socket.once('close', () => {
      const left = (counts.get(key) ?? 1) - 1
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    })
    return true
  }

  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket
    const address = clientNetwork(remoteAddress)
    const network = widerNetwork(address)
    const ofAddress = 'MAX_CONNECTIONS_PER_ADDRESS are open from one address'
    const ofNetwork = 'too many are open from one network'
    const isProxy = remoteAddress === '' || trusts(remoteAddress, 0)
    const isWithin =
      isProxy ||
      (count(socket, address, connectionsPerAddress, ofAddress) &&
        count(socket, network, connectionsPerNetwork, ofNetwork))
    if (!isWithin) {
      socket.destroy()
      return
    }
    const connection = { network, unanswered: 0, waitingSince: 0 }
    open.set(socket, connection)
    wait(socket, connection)
    socket.once('close', () => forget(socket))
    closeSlow()
    if (open.size <= connections) return
    warnRefused({ limit: connections }, 'connections are refused: MAX_CONNECTIONS are open')
    closeOldest()
    if (open.size > connections) close(socket)
  })
  const transport = transportOf(server)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const socket = transport(request.socket)
    const connection = open.get(socket)
    if (!connection) return
    if (connection.unanswered++ === 0) waitNoLonger(socket, connection)
    response.once('close', () => {
      if (--connection.unanswered === 0 && open.has(socket)) wait(socket, connection)
    })
  })
}

/** Finds the connection below a socket of TLS, which no public property names. */
function transportOf(server: Server): (socket: Socket) => Socket {
  const byPeer = new Map<string, Socket>()
  const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
  const below = new WeakMap<Socket, Socket>()
  if (!('setSecureContext' in server)) return (socket) => socket
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    byPeer.set(peer, socket)
    socket.once('close', () => byPeer.delete(peer))
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    const transport = byPeer.get(peerOf(socket))
    if (transport) below.set(socket, transport)
  })
  return (socket) => below.get(socket) ?? socket
}

/** The /24 of an IPv4 address, the /48 of the network of an IPv6 address. */
function widerNetwork(network: string): string {
  if (!network.includes(':')) return `${network.split('.', 3).join('.')}.0/24`
  const [known = ''] = network.split('::')
  return `${[...known.split(':'), '0', '0', '0'].slice(0, 3).join(':')}::/48`
}
