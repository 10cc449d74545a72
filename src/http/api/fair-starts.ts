import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../kernel/errors.js'
import { clientNetwork } from './client-network.js'

// Requests are started for so long in a turn of the event loop; one alone when the turn before took longer than `lateMs`.
const startedMs = 2
const lateMs = 10

type Waiting = { readonly start: () => void; readonly giveUp: () => void; readonly isGone: () => boolean }

/**
 * Starts the work on requests in turns of the event loop: some in each while they cost little, one while they cost much,
 * and one of each waiting client before the second of any. So dozens of expensive requests of a few addresses wait for
 * each other, and somebody else's for one of each address at most. Nobody is refused.
 */
export function startInTurns(app: FastifyInstance): void {
  const waiting = new Map<string, Waiting[]>()
  let spentMs = 0
  let isLate = false
  let isScheduled = false
  let turnBegan = 0

  const mayStart = () => spentMs === 0 || (!isLate && spentMs < startedMs)
  const run = (start: () => void) => {
    const began = performance.now()
    start()
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
    isLate = now - turnBegan > lateMs
    isScheduled = false
    spentMs = 0
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

  app.addHook('preHandler', (request, _reply, done) => {
    if (waiting.size === 0 && mayStart()) return run(done)
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
