import { availableParallelism, cpus, loadavg } from 'node:os'
import autocannon from 'autocannon'
import {
  atLeast,
  atMost,
  type Bar,
  type Bench,
  type BenchResult,
  type BenchSetting,
  isHeld,
  median,
} from '../suite/bench.js'
import { startFloor } from '../suite/servers.js'
import { describedLimits } from '../suite/settings.js'
import { apiPoolSize, apiUser, withFilledApi } from './filled-api.js'

const connections = 64

/** Requests to one server, divided among the connections; measured `rounds` times, beside its floors. */
type Target = {
  readonly name: string
  readonly requests: readonly autocannon.Request[]
  /** 64 when absent. */
  readonly connections?: number
}
type Measured = { readonly perSecond: number; readonly p99: number; readonly failed: number }

/**
 * The API under load beside its floors, over seeded projects: the list page must reach 0.7 of the bare Fastify route
 * (XML and JSON), the single project 0.8 of its own. `--quick`: fewer projects, shorter. `--only=TEXT`: targets whose
 * name has the text. `--data=FOLDER`: the seeded database is kept there.
 */
export const bench: Bench = {
  name: 'api',
  about: 'reads of the API under load, beside bare Fastify routes over the same texts and beside node:http',
  byDefault: false,
  run,
}

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, only = '', workshop, say } = setting
  const plan = { only, ...(quick ? { rounds: 3, seconds: 2 } : { rounds: 5, seconds: 4 }) }
  return await withFilledApi(setting, async ({ projects, url, apiKey, port }) => {
    const pool = String(apiPoolSize)
    await using floors = await startFloor<FloorPorts>(await workshop.program(), 'bench/api/floors.js', url, pool)
    return await measure({ projects, apiKey, ports: { api: port, ...floors.value }, ...plan }, say)
  })
}

type FloorPorts = { readonly fastify: number; readonly http: number }

type Setting = {
  readonly projects: number
  readonly apiKey: string
  readonly ports: FloorPorts & { readonly api: number }
  readonly rounds: number
  readonly seconds: number
  readonly only: string
}

async function measure(setting: Setting, print: (line: string) => void): Promise<BenchResult> {
  const { projects, apiKey, ports } = setting
  // The same ids for all contenders, spread over the table.
  const ids = Array.from({ length: 10 * connections }, (_, index) => 1 + ((index * 7_919) % Math.max(1, projects - 20)))
  const get = (paths: readonly string[]) => paths.map((one) => ({ method: 'GET' as const, path: one }))
  const apiPath = (rest: string) => `/api/public/${rest}${rest.includes('?') ? '&' : '?'}api_key=${apiKey}`
  const lists = (format: string) =>
    get(ids.map((id) => apiPath(`projectservice/all/projects.${format}?nextProjectId=${id}`)))
  const floor = (one: string) => get(ids.map((id) => `/${one}?id=${id}`))
  const group = (name: string, requests: readonly autocannon.Request[], floorPath: string, bar: number) => ({
    bar,
    targets: [
      { name, requests, port: ports.api },
      { name: 'Fastify, one statement', requests: floor(floorPath), port: ports.fastify },
      { name: 'node:http, fixed bytes', requests: floor(floorPath), port: ports.http },
    ],
  })
  const alone = (name: string, requests: readonly autocannon.Request[], own = connections) => ({
    bar: 0,
    targets: [{ name, requests, port: ports.api, connections: own }],
  })
  const collection = (id: number) => Array.from({ length: 10 }, (_, index) => id + index).join(',')
  const groups = [
    group('list page, JSON', lists('json'), 'list.json', 0.7),
    group('list page, XML', lists('xml'), 'list.xml', 0.7),
    group(
      'single project, JSON',
      // Inactive projects answer 410: only active ones are requested.
      await answering(ports.api, get(ids.map((id) => apiPath(`projectservice/projects/${id}.json`)))),
      'project.json',
      0.8,
    ),
    alone(
      'collection of 10, JSON',
      await answering(
        ports.api,
        get(ids.map((id) => apiPath(`projectservice/projects/collection/ids.json?projectIds=${collection(id)}`))),
      ),
    ),
    // Few at a time: concurrent password checks are capped, and more would get 503.
    alone(
      'token',
      [
        {
          method: 'POST',
          path: '/api/userservice/tokens',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ auth_request: { user: apiUser, api_key: apiKey } }),
        },
      ],
      4,
    ),
  ]
  print(
    `${projects} projects, ${connections} connections, ${setting.rounds} rounds of ${setting.seconds} s (medians), ` +
      `${availableParallelism()} cores ${cpus()[0]?.model ?? ''}, load before ${loadavg()[0]?.toFixed(2)}; server, ` +
      `database and load generator share the machine; ${describedLimits}`,
  )
  const wanted = groups.filter(({ targets }) => targets[0]?.name.includes(setting.only))
  const bars: Bar[] = []
  for (const { bar, targets } of wanted) bars.push(...(await measureGroup(setting, bar, targets, print)))
  return { bars }
}

async function answering(port: number, requests: readonly autocannon.Request[]): Promise<autocannon.Request[]> {
  const good: autocannon.Request[] = []
  for (const one of requests) {
    const answer = await fetch(`http://127.0.0.1:${port}${one.path}`)
    await answer.arrayBuffer()
    if (answer.ok) good.push(one)
  }
  return good
}

/** Measures the targets in turn, round by round, so that a disturbance of the machine affects all of them. */
async function measureGroup(
  { rounds, seconds }: Setting,
  bar: number,
  targets: readonly (Target & { readonly port: number })[],
  print: (line: string) => void,
): Promise<Bar[]> {
  const results = targets.map((): Measured[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, target] of targets.entries()) results[index]?.push(await load(target, seconds))
  }
  const [own = [], ...floors] = results
  for (const [index, { name }] of targets.entries()) {
    const measured = results[index] ?? []
    const failed = measured.reduce((sum, one) => sum + one.failed, 0)
    print(
      `${(index === 0 ? name : `  ${name}`).padEnd(28)}${median(measured.map((one) => one.perSecond))
        .toFixed(0)
        .padStart(8)}/s` +
        `  p99 ${median(measured.map((one) => one.p99))
          .toFixed(0)
          .padStart(4)} ms${failed > 0 ? `  FAILED ${failed}` : ''}`,
    )
  }
  const ratios = floors.map((floor) =>
    median(own.map(({ perSecond }, round) => perSecond / (floor[round]?.perSecond ?? 1))),
  )
  const [ofFastify] = ratios
  const what = targets[0]?.name ?? ''
  const failed = atMost(
    0,
    `${what}: failed requests`,
    own.reduce((sum, one) => sum + one.failed, 0),
    'requests',
  )
  if (ofFastify === undefined) return isHeld(failed) ? [] : [failed]
  print(`  = ${ratios.map((ratio) => ratio.toFixed(2)).join(' and ')} of the floors`)
  const ratio = atLeast(bar, `${what}, of Fastify with one statement`, ofFastify)
  return isHeld(failed) ? [ratio] : [ratio, failed]
}

async function load(
  { requests, port, connections: own = connections }: Target & { readonly port: number },
  seconds: number,
): Promise<Measured> {
  let connected = 0
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: own,
    duration: seconds,
    requests: [...requests],
    // Each connection requests its own records: a record that two request at once would be read only once.
    setupClient: (client) => {
      const turn = connected++ % own
      if (requests.length >= own) client.setRequests(requests.filter((_, index) => index % own === turn))
    },
  })
  return {
    perSecond: result.requests.average,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts,
  }
}
