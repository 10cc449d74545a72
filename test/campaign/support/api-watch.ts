import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** What a watched address answered. */
type Sighting = {
  readonly path: string
  readonly status: number
  readonly body: string
  readonly began: number
  readonly ended: number
}

/** A look at an API process that goes on until it is stopped. */
export type ApiWatch = {
  readonly faults: string[]
  /** Says that from `from` to `to` (as `performance.now()`) the process could not reach its database. */
  databaseWasAway(from: number, to: number): void
  /** Resolves when every address answers as if nothing had been. */
  recovered(): Promise<void>
  /** How often what was answered. */
  stop(): Promise<Readonly<Record<string, number>>>
}

/**
 * Asks an API process all the time. Published files, `/healthz` and `/metrics` must always be answered; what needs the
 * database is 200, or 503 with `Retry-After`; nothing else, and nothing hangs. While the database is away `/readyz` and
 * `/metrics` must say so.
 */
export function watchApi(baseUrl: string, apiKey: string): ApiWatch {
  const always = ['/healthz', '/iati/activities.xml', '/feeds/manifest.json', '/metrics', '/']
  const needing = ['/readyz', '/feeds/status.json', `/api/public/projectservice/all/projects.json?api_key=${apiKey}`]
  const agent = new Agent({ connections: 20, pipelining: 1 })
  const faults: string[] = []
  const sightings: Sighting[] = []
  const counts: Record<string, number> = {}
  let ended = false
  const look = async (path: string): Promise<Sighting> => {
    const began = performance.now()
    const answer = await request(baseUrl + path, { dispatcher: agent, signal: AbortSignal.timeout(30_000) })
    const body = await answer.body.text()
    if (answer.statusCode === 503 && !answer.headers['retry-after']) faults.push(`${path}: 503 without Retry-After`)
    return { path, status: answer.statusCode, body, began, ended: performance.now() }
  }
  const watch = async (path: string) => {
    while (!ended) {
      try {
        const seen = await look(path)
        const telling = path === '/readyz' || path === '/metrics'
        sightings.push(telling ? seen : { ...seen, body: '' })
        if (sightings.length > 2_000) sightings.splice(0, 1_000)
        const what = `${path.replace(/\?.*/, '')} ${seen.status}`
        counts[what] = (counts[what] ?? 0) + 1
        const allowed = always.includes(path) ? [200] : [200, 503]
        if (!allowed.includes(seen.status)) faults.push(`${what}: ${seen.body.slice(0, 200)}`)
      } catch (error) {
        faults.push(`${path}: no answer: ${error instanceof Error ? error.message : error}`)
      }
      await sleep(100)
    }
  }
  const watching = [...always, ...needing].map(watch)
  return {
    faults,
    databaseWasAway: (from, to) => {
      for (const { path, status, body, began, ended } of sightings) {
        if (began < from || ended > to) continue
        if (needing.includes(path) && status !== 503) faults.push(`${path}: ${status} while the database was away`)
        if (path === '/readyz' && !body.includes('"database":"unreachable"')) faults.push(`/readyz said ${body}`)
        if (path === '/metrics' && !/^giving_database_up 0$/m.test(body)) faults.push('/metrics: the database was away')
      }
    },
    recovered: async () => {
      for (const path of [...always, ...needing]) {
        for (;;) {
          const { status, body } = await look(path).catch(() => ({ status: 0, body: '' }))
          if (status === 200 && (path !== '/metrics' || /^giving_database_up 1$/m.test(body))) break
          await sleep(50)
        }
      }
    },
    stop: async () => {
      ended = true
      await Promise.all(watching)
      await agent.close()
      return counts
    },
  }
}
