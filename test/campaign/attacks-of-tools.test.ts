import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seedDemo } from '../../src/demo/sql/demo.js'
import { createReleaseReader } from '../../src/release/read/release-reader.js'
import { listen, type TestApi, testApi } from '../support/api/api.js'
import { testPublisher } from '../support/release/publishing.js'
import { testDatabase } from '../support/store/database.js'
import { day, mappingConfig, usd } from '../support/values/builders.js'
import { type Attack, attackKinds, attackOn } from './support/attacks-of-tools.js'
import { tableOfRoutes } from './support/expensive-requests.js'
import { record, seeded } from './support/record.js'
import { scaled } from './support/scale.js'

// About twenty minutes on two cores.
const attacks = scaled(3_000_000)
const together = 50

/** Statuses of wire.md 1.7, and those of files and pages. */
const sound = new Set([
  200, 201, 204, 206, 301, 302, 303, 304, 400, 401, 403, 404, 405, 408, 410, 412, 413, 415, 416, 503,
])

describe(`${attacks} requests as scanners make them`, async () => {
  const { store } = await testDatabase()
  const random = seeded('attacks of tools')
  let api: TestApi
  let apiKey: string
  let before: string
  const errors: string[] = []
  const broken: string[] = []
  let base: string
  const agent = new Agent({ keepAlive: true, maxSockets: together })

  beforeAll(async () => {
    await seedDemo(store, { today: day('2026-11-20'), currency: usd, baseUrl: mappingConfig.baseUrl })
    const publisher = await testPublisher(store)
    await publisher.publish()
    const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) })
    api = await testApi(store, { releases: createReleaseReader(publisher.feedsDir), log })
    apiKey = api.apiKey
    base = await listen(api.app)
    before = await catalogue()
  })

  afterAll(() => agent.destroy())

  /** What no request without a right may change, and the tables that are there. */
  async function catalogue(): Promise<string> {
    const { rows } = await store.db.query(
      `select (select md5(string_agg(p::text, '' order by id)) from project p) as projects,
        (select md5(string_agg(o::text, '' order by id)) from organisation o) as organisations,
        (select count(*) from donation) as donations, (select count(*) from api_key) as keys,
        (select string_agg(table_name, ' ' order by table_name) from information_schema.tables
          where table_schema = current_schema()) as tables`,
    )
    return JSON.stringify(rows)
  }

  /** Over a socket: a library in between would refuse some addresses. */
  async function answerTo({ method, path, headers, body }: Attack['request']) {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(base, { agent, method, path, headers }).on('response', resolve).on('error', reject).end(body)
    })
    return { statusCode: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) }
  }

  /** An answer that another moment may change: none, or 503 for a reason of ours. */
  function isOfTheMoment(answer: Error | Awaited<ReturnType<typeof answerTo>>): boolean {
    return answer instanceof Error || (answer.statusCode === 503 && answer.body.includes('(request '))
  }

  async function whatIsWrong({ request: asked, sign }: Attack): Promise<string | undefined> {
    // A connection may break, and the database be waited for in vain, beside other work; what is wrong is so again.
    const once = async () => await answerTo(asked).catch((error: Error) => error)
    let answer = await once()
    for (let again = 0; again < 3 && isOfTheMoment(answer); again++) {
      broken.push(answer instanceof Error ? answer.message : '503')
      answer = await once()
    }
    // Also an answer that a client of HTTP cannot read, such as one with longer headers than it takes.
    if (answer instanceof Error) return `no readable answer: ${answer.message}`
    const { statusCode, headers, body } = answer
    if (!sound.has(statusCode)) return `status ${statusCode}`
    if (isOfTheMoment(answer)) return `503 for an inner reason: ${body.slice(0, 200)}`
    if (headers[sign] !== undefined || headers['set-cookie'] !== undefined) return 'a header of the attacker'
    if (/^(?:https?:)?\/\/(?!giving\.example)/.test(String(headers.location ?? '')))
      return `leads to ${headers.location}`
    if (/root:[^:]*:0:0:/.test(body)) return 'a file of the system'
    // In JSON it is text, and `nosniff` keeps it that.
    const isText =
      headers['x-content-type-options'] === 'nosniff' &&
      /^(?:application\/json|text\/plain)/.test(String(headers['content-type']))
    if (body.includes(`<${sign}`) && !isText) return 'its markup'
    if (/\b(?:syntax error at or near|node_modules|at \w+ \(file:)/.test(body)) return 'something of the inside'
    return undefined
  }

  it('find nothing, change nothing and stop nothing', { timeout: 7_200_000 }, async () => {
    const routes = tableOfRoutes(api.app)
    const found: string[] = []
    const statuses = new Map<string, number>()
    for (let done = 0; done < attacks && found.length === 0; done += together) {
      const some = Array.from({ length: together }, () => attackOn(routes, apiKey, random))
      const wrong = await Promise.all(some.map(whatIsWrong))
      for (const [at, attack] of some.entries()) {
        statuses.set(attack.kind, (statuses.get(attack.kind) ?? 0) + 1)
        if (wrong[at] !== undefined) found.push(`${attack.kind}: ${wrong[at]}: ${JSON.stringify(attack.request)}`)
      }
    }
    // A short line each: the end of a long log is what is kept of it.
    expect(found.map((line) => line.slice(0, 600))).toEqual([])
    expect([...statuses.keys()].sort()).toEqual([...attackKinds].sort())
    expect(await catalogue()).toBe(before)
    // What was of the moment was asked again.
    expect(errors.filter((line) => JSON.parse(line).code !== 'database-unavailable')).toEqual([])
    for (const address of ['/healthz', '/', `/api/public/projectservice/all/projects?api_key=${apiKey}`]) {
      expect([address, (await api.app.inject(address)).statusCode]).toEqual([address, 200])
    }
    const outcome = `nothing found, changed or stopped by ${attackKinds.length} kinds on ${routes.length} routes; connections that broke: ${broken.join(', ') || 'none'}`
    record({ name: 'requests as scanners make them', engine: '-', tried: attacks, outcome })
  })
})
