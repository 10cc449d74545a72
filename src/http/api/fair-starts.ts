import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../kernel/errors.js'
import { clientNetwork } from './client-network.js'

// Requests are started for so long in a turn of the event loop. How many at most is halved after a turn that took longer
// than `lateMs`, since most of their work comes after their start, and grows by one after each other turn.
const startedMs = 2
const lateMs = 10
const mostStarted = 64
// Node.js accepts one connection in a round of the event loop. Where each round brings another, so many rounds take
// connections alone before the next start: who connects would otherwise wait for the work of all that connected before.
const mostRoundsOfConnections = 64

type Waiting = { readonly start: () => void; readonly giveUp: () => void; readonly isGone: () => boolean }

/**
 * Starts the work on requests in turns of the event loop: some in each while they cost little, one while they cost much,
 * and one of each waiting client before the second of any. So dozens of expensive requests of a few addresses wait for
 * each other, and somebody else's for one of each address at most. Connections that wait are taken first, so that each has
 * its place in this order. Nobody is refused.
 */
export function startInTurns(app: FastifyInstance): void {
  const waiting = new Map<string, Waiting[]>()
  let spentMs = 0
  let started = 0
  let most = mostStarted
  let isScheduled = false
  let turnBegan = 0
  let isConnecting = false
  let roundsOfConnections = 0

  const mayStart = () => started === 0 || (started < most && spentMs < startedMs)
  const run = (start: () => void) => {
    const began = performance.now()
    start()
    started++
    spentMs += performance.now() - began
    schedule(began)
  }
  const schedule = (now: number) => {
    if (isScheduled) return
    isScheduled = true
    turnBegan = now
    setImmediate(nextTurn)
  }
  const nextTurn = () => {
    const now = performance.now()
    if (isConnecting && roundsOfConnections < mostRoundsOfConnections) {
      isConnecting = false
      roundsOfConnections++
      turnBegan = now
      setImmediate(nextTurn)
      return
    }
    isConnecting = false
    roundsOfConnections = 0
    most = now - turnBegan > lateMs ? Math.max(1, Math.floor(most / 2)) : Math.min(mostStarted, most + 1)
    isScheduled = false
    spentMs = 0
    started = 0
    for (const [client, requests] of waiting) {
      if (!mayStart()) break
      waiting.delete(client)
      const next = requests.shift()
      if (requests.length > 0) waiting.set(client, requests)
      if (next?.isGone()) next.giveUp()
      else if (next) run(next.start)
    }
    if (waiting.size > 0) schedule(now)
  }

  app.server.on('connection', () => {
    isConnecting = true
    schedule(performance.now())
  })
  app.addHook('preHandler', (request, _reply, done) => {
    if (waiting.size === 0 && !isConnecting && roundsOfConnections === 0 && mayStart()) return run(done)
    const client = clientNetwork(request.ip)
    const own = waiting.get(client) ?? []
    own.push({
      start: done,
      isGone: () => request.raw.socket.destroyed,
      giveUp: () => done(new ServiceError('server-busy', 'the client went away before its turn')),
    })
    waiting.set(client, own)
    schedule(performance.now())
  })
}
