import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../../platform/observability/log.js'
import { clientNetwork } from './client-network.js'
import type { ApiLimits } from './deps.js'
import type { ProxyTrust } from './proxy-trust.js'
import { warnSometimes } from './warn-sometimes.js'

// From this share of all connections on, idle ones make room.
const crowded = 0.8
const makeRoomEveryMs = 1_000
// A client that has sent nothing for so long is not about to send its first request.
const silentMs = 2_000

/**
 * Refuses connections beyond the limits by closing them at once. Those of trusted proxies are not counted by address:
 * they carry everybody's requests. Idle connections, and those that never sent anything, are closed while it is crowded, so
 * that they do not keep others out.
 */
export function limitConnections(
  server: Server,
  limits: Pick<ApiLimits, 'connections' | 'connectionsPerAddress'> & { readonly trusts: ProxyTrust; readonly log: Log },
): void {
  const { connections, connectionsPerAddress, trusts, log } = limits
  const byAddress = new Map<string, number>()
  const warnRefused = warnSometimes(log)
  // Connections that may not have sent anything yet, oldest first.
  const unheard = new Map<Socket, number>()
  let open = 0
  let madeRoomAt = Number.NEGATIVE_INFINITY

  const makeRoom = () => {
    if (open < connections * crowded || performance.now() - madeRoomAt < makeRoomEveryMs) return
    madeRoomAt = performance.now()
    // Node counts as idle only what has had an answer.
    server.closeIdleConnections()
    for (const [socket, openedAt] of unheard) {
      if (performance.now() - openedAt < silentMs) break
      if (socket.bytesRead === 0) socket.destroy()
      unheard.delete(socket)
    }
  }
  server.maxConnections = connections
  server.on('drop', () => {
    warnRefused({ limit: connections }, 'connections are refused: MAX_CONNECTIONS are open')
    makeRoom()
  })
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket
    open++
    unheard.set(socket, performance.now())
    socket.once('close', () => {
      open--
      unheard.delete(socket)
    })
    makeRoom()
    if (remoteAddress === undefined || trusts(remoteAddress, 0)) return
    const address = clientNetwork(remoteAddress)
    const ofAddress = byAddress.get(address) ?? 0
    if (ofAddress >= connectionsPerAddress) {
      warnRefused(
        { address, limit: connectionsPerAddress },
        'connections are refused: MAX_CONNECTIONS_PER_ADDRESS are open from one address',
      )
      socket.destroy()
      return
    }
    byAddress.set(address, ofAddress + 1)
    socket.once('close', () => {
      const left = (byAddress.get(address) ?? 1) - 1
      if (left === 0) byAddress.delete(address)
      else byAddress.set(address, left)
    })
  })
}
