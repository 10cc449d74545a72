import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { consoleToken } from './fleet.js'

/** What a watched address answered. */
type Sighting = {
  readonly url: string
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

/** Where an API process listens, and its console. */
type Watched = { readonly baseUrl: string; readonly consoleUrl: string }

/**
 * Asks an API process and its console all the time. Published files, `/healthz` and `/metrics` must always be answered; what
 * needs the database, such as the pages of the console, is 200, or 503 with `Retry-After`; nothing else, and nothing hangs.
 * While the database is away `/readyz` and `/metrics` must say so.
 */
export function watchApi({ baseUrl, consoleUrl }: Watched, apiKey: string): ApiWatch {
  const [readyz, metrics] = [`${baseUrl}/readyz`, `${consoleUrl}/metrics`]
  const always = [
    ...['/healthz', '/iati/activities.xml', '/feeds/manifest.json', '/'].map((path) => baseUrl + path),
    ...[metrics, `${consoleUrl}/healthz`],
  ]
  const needing = [
    ...[readyz, `${baseUrl}/feeds/status.json`],
    `${baseUrl}/api/public/projectservice/all/projects.json?api_key=${apiKey}`,
    ...['/', '/releases', '/runs', '/held', '/queues'].map((path) => consoleUrl + path),
  ]
  const agent = new Agent({ connections: 20, pipelining: 1 })
  const faults: string[] = []
  const sightings: Sighting[] = []
  const counts: Record<string, number> = {}
  let ended = false
  const look = async (url: string): Promise<Sighting> => {
    const began = performance.now()
    const headers = url.startsWith(consoleUrl) ? { authorization: `Bearer ${consoleToken}` } : {}
    const answer = await request(url, { dispatcher: agent, headers, signal: AbortSignal.timeout(30_000) })
    const body = await answer.body.text()
    if (answer.statusCode === 503 && !answer.headers['retry-after']) faults.push(`${url}: 503 without Retry-After`)
    return { url, status: answer.statusCode, body, began, ended: performance.now() }
  }
  const watch = async (url: string) => {
    while (!ended) {
      try {
        const seen = await look(url)
        const telling = url === readyz || url === metrics
        sightings.push(telling ? seen : { ...seen, body: '' })
        if (sightings.length > 2_000) sightings.splice(0, 1_000)
        const what = `${url.replace(/\?.*/, '')} ${seen.status}`
        counts[what] = (counts[what] ?? 0) + 1
        const allowed = always.includes(url) ? [200] : [200, 503]
        if (!allowed.includes(seen.status)) faults.push(`${what}: ${seen.body.slice(0, 200)}`)
      } catch (error) {
        faults.push(`${url}: no answer: ${error instanceof Error ? error.message : error}`)
      }
      await sleep(100)
    }
  }
  const watching = [...always, ...needing].map(watch)
  return {
    faults,
    databaseWasAway: (from, to) => {
      for (const { url, status, body, began, ended } of sightings) {
        if (began < from || ended > to) continue
        if (needing.includes(url) && status !== 503) faults.push(`${url}: ${status} while the database was away`)
        if (url === readyz && !body.includes('"database":"unreachable"')) faults.push(`/readyz said ${body}`)
        if (url === metrics && !/^giving_database_up 0$/m.test(body)) faults.push('/metrics: the database was away')
      }
    },
    recovered: async () => {
      for (const url of [...always, ...needing]) {
        for (;;) {
          const { status, body } = await look(url).catch(() => ({ status: 0, body: '' }))
          if (status === 200 && (url !== metrics || /^giving_database_up 1$/m.test(body))) break
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
