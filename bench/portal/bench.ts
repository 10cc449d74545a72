import autocannon from 'autocannon'
import { isoInstantOf } from '../../src/kernel/dates.js'
import type { Connection } from '../../src/platform/database/connection.js'
import type { Store } from '../../src/platform/database/store.js'
import { Draft } from '../../src/release/folder/draft.js'
import { releaseFolder } from '../../src/release/folder/release-folder.js'
import { stampedEnvelope } from '../../src/release/plan/stamped-envelope.js'
import { createReleaseReader } from '../../src/release/read/release-reader.js'
import { writeIndex } from '../../src/release/write/write-index.js'
import { randomFrom } from '../../test/support/values/random.js'
import { atLeast, atMost, type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'
import { memoryOf, peakMemoryOf } from '../suite/memory.js'
import { openBenchPublisher } from '../suite/publisher.js'
import { startFloor, startGiving } from '../suite/servers.js'
import { apiLimits, firstRunAt } from '../suite/settings.js'
import { timeLargestPaints } from './largest-paint.js'

/** Pages of a published release, beside a bare Fastify route; and what the index costs a publication. */
export const bench: Bench = {
  name: 'portal',
  about: 'pages of a release under load, beside a bare Fastify route that sends the same bytes; the cost of the index',
  byDefault: false,
  run,
}

const connections = 20
// Addresses of lists, more than are drawn in a round.
const lists = 20_000
/** Downloads beside the hostile queries, each again when it has ended. */
const downloaders = 4
const { signal } = new AbortController()

async function run({
  quick,
  projects = quick ? 2_000 : 100_000,
  workshop,
  progress,
}: BenchSetting): Promise<BenchResult> {
  await using database = await workshop.seeded({ projects, size: 'small', once: true })
  const dataDir = await workshop.folder('portal')
  const feedsDir = `${dataDir}/feeds`
  await using publisher = await openBenchPublisher({ ...database, feedsDir, checks: 'all', standardDir: undefined })
  progress('publishing')
  const first = await publisher.begin(firstRunAt)
  const rendered = await publisher.render(first)
  const published = await publisher.publish(first)
  if (published.state !== 'published') throw new Error(`the release is ${published.state}`)
  const whole = rendered.seconds + published.releaseSeconds
  const indexSeconds = (rendered.stages.index ?? 0) / 1000 + (await timeIndex(database.store, feedsDir))
  // Each download has an address of its own, so that what one of them may take is the service's own limit.
  const { DOWNLOAD_MEGABYTES_PER_SECOND: _, ...limits } = apiLimits
  const environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'info', ...limits }
  const program = await workshop.program()
  await using api = await startGiving(program, 'api', environment, '/healthz')
  const firstPages = await timeFirstPages(api.value)
  progress('pages on a phone with slow 4G')
  const tables = ['/organisations', '/countries', '/years?by=theme', '/years', '/data', '/quality', '/developers']
  const paths = ['/', '/ar', '/projects', '/projects/1', '/projects?q=water', ...tables]
  const paints = await timeLargestPaints(api.value, paths)
  await using floor = await startFloor<string>(program, 'bench/portal/bare-fastify.js', `${api.value}/projects/1`)
  const seconds = quick ? 2 : 5
  const rounds = quick ? 3 : 5
  const every = Array.from({ length: 1_000 }, (_, at) => `/projects/${1 + ((at * 7_919) % projects)}`)
  const targets = [
    { name: 'project page, kept', url: api.value, paths: ['/projects/1'] },
    { name: 'Fastify, the same bytes', url: floor.value, paths: ['/page'] },
    { name: 'project pages, drawn and kept', url: api.value, paths: every },
    { name: '/projects with a filter', url: api.value, paths: await listAddresses(api.value) },
  ]
  const results = targets.map((): { perSecond: number; p99: number }[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, { url, paths }] of targets.entries()) results[at]?.push(await load(url, paths, seconds))
  }
  progress('hostile queries beside downloads')
  const hostile = await hostileBesideDownloads(program, api.value, rounds, seconds)
  progress('an address that nobody asked for before, again and again')
  const addresses = quick ? 4_000 : 200_000
  const memory = await askAll(api, newAddresses(addresses, projects))
  const perSecond = (at: number) => median((results[at] ?? []).map((one) => one.perSecond))
  const p99 = (at: number) => median((results[at] ?? []).map((one) => one.p99))
  return {
    tables: [
      {
        title: `${projects} projects, ${connections} connections; medians`,
        columns: ['', 'requests/s', 'p99 ms'],
        rows: [
          ...targets.map(({ name }, at) => [name, perSecond(at).toFixed(0), p99(at).toFixed(1)]),
          [
            `/projects with hostile queries, beside ${downloaders} downloads`,
            median(hostile.map((one) => one.perSecond)).toFixed(0),
            median(hostile.map((one) => one.p99)).toFixed(1),
          ],
        ],
      },
      {
        title: `${addresses} different addresses, one after the other by ${connections} clients: memory of the API process`,
        columns: ['asked for', 'MiB'],
        rows: memory.map(({ asked, mebibytes }) => [String(asked), mebibytes.toFixed(0)]),
      },
      ...(paints
        ? [
            {
              title: 'largest paint on a phone with slow 4G and a quarter of the processor',
              columns: ['', 'ms', 'kB', 'requests'],
              rows: paints.map(({ path, milliseconds, kilobytes, requests }) => [
                path,
                ...[milliseconds, kilobytes, requests].map((one) => one.toFixed(0)),
              ]),
            },
          ]
        : []),
      {
        title: 'the first request of a page, and the next, ms',
        columns: ['', 'first', 'next'],
        rows: firstPages.map(({ name, first: drawn, next }) => [name, drawn.toFixed(0), next.toFixed(0)]),
      },
    ],
    notes: [
      ...(paints ? [] : ['no browser: the largest paint was not measured']),
      `first publication ${whole.toFixed(1)} s, its index ${indexSeconds.toFixed(2)} s`,
    ],
    bars: [
      atLeast(0.5, 'project page of a bare Fastify route', perSecond(0) / perSecond(1)),
      atMost(100, '/projects with a filter, p99', p99(3), 'ms'),
      atMost(50, 'hostile queries beside downloads, p99', median(hostile.map((one) => one.p99)), 'ms'),
      atMost(
        1.1,
        `memory after ${addresses} addresses, of that after a tenth of them`,
        (memory.at(-1)?.mebibytes ?? Number.NaN) / (memory[0]?.mebibytes ?? Number.NaN),
      ),
      ...(paints
        ? [
            atMost(
              2_000,
              'largest paint of a page on a phone with slow 4G',
              Math.max(...paints.map((one) => one.milliseconds)),
              'ms',
            ),
          ]
        : []),
      atMost(5, 'index of a publication', (100 * indexSeconds) / whole, '%'),
      atMost(512, 'peak memory of the API process', peakMemoryOf(api.pid) ?? Number.NaN, 'MiB'),
    ],
  }
}

/** How long pages about everything take, which are drawn once for a release and language; the first of all opens the release. */
async function timeFirstPages(url: string): Promise<{ name: string; first: number; next: number }[]> {
  const time = async (path: string) => {
    const began = performance.now()
    const answer = await fetch(url + path)
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    return performance.now() - began
  }
  const opened = await time('/projects/1')
  const timed = [{ name: '/projects/1, which opens the release', first: opened, next: await time('/projects/1') }]
  const list = await (await fetch(`${url}/projects`)).text()
  const [country = ''] = optionsOf(list, 'country')
  const [theme = ''] = optionsOf(list, 'theme')
  for (const name of ['/', '/fr', '/years', '/quality', '/fr/quality', `/countries/${country}`, `/themes/${theme}`]) {
    timed.push({ name, first: await time(name), next: await time(name) })
  }
  return timed
}

/** Thousands of different lists, so that most are found and drawn when they are asked for: by country, theme, status and words. */
async function listAddresses(url: string): Promise<string[]> {
  const list = await (await fetch(`${url}/projects`)).text()
  const choices = (['country', 'theme', 'status'] as const).flatMap((name) =>
    optionsOf(list, name).map((value) => `${name}=${encodeURIComponent(value)}`),
  )
  const words = new Set(
    [...list.matchAll(/<h2[^>]*><a[^>]*>([^<]*)/g)].flatMap(([, title = '']) => title.match(/[a-z]{4,}/gi) ?? []),
  )
  const filters = [
    ...choices,
    ...[...words].flatMap((word) => [`q=${word}`, ...choices.map((choice) => `q=${word}&${choice}`)]),
  ]
  const pages = Math.ceil(lists / filters.length)
  return filters.flatMap((filter) => Array.from({ length: pages }, (_, at) => `/projects?${filter}&page=${1 + at}`))
}

/** Queries as those write them who do not mean well, or let a program guess: each is asked for once. */
function hostileQueries(count: number): string[] {
  const random = randomFrom(20_261_127)
  const pick = <T>(from: readonly [T, ...T[]]): T => from[Math.floor(random() * from.length)] ?? from[0]
  const letters = (length: number) =>
    Array.from({ length }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('')
  const frequent = ['water', 'school', 'families', 'health', 'women', 'the', 'of', 'in', 'é', 'ß'] as const
  const words = [
    () => letters(2),
    () => letters(40),
    () => Array.from({ length: 8 }, () => pick(frequent)).join(' '),
    () => `"${pick(frequent)} ${pick(frequent)}"`,
    () => `"${pick(frequent)}" ${letters(3)} ${pick(frequent)}`,
    () => `%_\\'"<>${pick(frequent)}${letters(2)}--`,
    () => `${'\u0301'.repeat(50)}${letters(3)}`,
    () => letters(1_000),
  ] as const
  const rest = [
    () => '',
    () => `sort=${pick(['best', 'newest', 'received', 'budget', letters(5)])}`,
    () => `page=${Math.floor(random() * 1e12)}`,
    () => `year=${Math.floor(random() * 1e4)}&figure=${pick(['received', 'paid', 'budget', letters(4)])}`,
    () => `country=${letters(2).toUpperCase()}&theme=${letters(6)}&status=${Math.floor(random() * 9)}`,
    () => Array.from({ length: 60 }, () => `${letters(3)}=${letters(3)}`).join('&'),
  ] as const
  return Array.from({ length: count }, () => `/projects?q=${encodeURIComponent(pick(words)())}&${pick(rest)()}`)
}

/** Hostile queries of all clients, while another process downloads the largest file again and again. */
async function hostileBesideDownloads(program: string, url: string, rounds: number, seconds: number) {
  await using downloads = await startFloor<true>(program, 'bench/portal/downloads.js', url, String(downloaders))
  const queries = hostileQueries(rounds * seconds * 2_000)
  const results = []
  for (let round = 0; round < rounds; round++) {
    const from = Math.floor((round * queries.length) / rounds)
    results.push(await load(url, queries.slice(from, from + Math.floor(queries.length / rounds)), seconds))
  }
  // Throws where the downloads failed: the queries would be measured beside nothing.
  process.kill(downloads.pid, 0)
  return results
}

/** Pages of projects in each language, then lists of words that nobody asked for before. */
function newAddresses(count: number, projects: number): string[] {
  const languages = ['', '/fr', '/es', '/pt', '/de', '/ar']
  return Array.from({ length: count }, (_, at) => {
    const language = languages[at % languages.length] ?? ''
    return at % 2 === 0
      ? `${language}/projects/${1 + ((at * 7_919) % projects)}`
      : `${language}/projects?q=${(at * 2_654_435_761).toString(36)}`
  })
}

/** Asks for each address once, and looks ten times at the memory of the process. */
async function askAll(server: { value: string; pid: number }, addresses: readonly string[]) {
  const looks: { asked: number; mebibytes: number }[] = []
  const tenth = Math.ceil(addresses.length / 10)
  for (let from = 0; from < addresses.length; from += tenth) {
    const requests = addresses.slice(from, from + tenth).map((path) => ({ method: 'GET' as const, path }))
    const share = Math.ceil(requests.length / connections)
    let started = 0
    const result = await autocannon({
      url: server.value,
      connections,
      amount: share * connections,
      setupClient: (client) => {
        const own = requests.slice(share * started, share * (started + 1))
        started++
        if (own.length > 0) client.setRequests(own)
      },
    })
    if (result.non2xx > 0 || result.errors > 0)
      throw new Error(`${result.non2xx} answers were not 200, ${result.errors} requests had none`)
    looks.push({ asked: from + requests.length, mebibytes: memoryOf(server.pid) ?? Number.NaN })
  }
  return looks
}

/** The values that a list of choices on `/projects` has. */
function optionsOf(page: string, name: string): string[] {
  const [choice = ''] = new RegExp(`<select id="${name}"[^]*?</select>`).exec(page) ?? []
  return [...choice.matchAll(/<option value="([^"]+)"/g)].map(([, value = '']) => value)
}

/** Seconds to write the index of the live release once more, from the stored entries. */
async function timeIndex(store: Store, feedsDir: string): Promise<number> {
  const release = await createReleaseReader(feedsDir).live()
  if (!release) throw new Error('nothing was published')
  await using draft = await Draft.begin(releaseFolder(feedsDir), `${release.id}0`)
  const files = release.manifest.files.filter(({ path }) => /^\/iati\/activities(-\d+)?\.xml$/.test(path))
  const envelope = stampedEnvelope('iati-activities', isoInstantOf(firstRunAt))
  const began = performance.now()
  const write = (client: Connection) => writeIndex(draft, undefined, client, { files, envelope }, signal)
  await (await store.snapshot(async (_db, client) => await write(client))).written
  return (performance.now() - began) / 1000
}

async function load(
  url: string,
  paths: readonly string[],
  duration: number,
): Promise<{ perSecond: number; p99: number }> {
  // Each connection has a share of its own, or all would ask for the same page at a time. Each request is built when it is sent:
  // building thousands at the start held the client for 200 ms, which counted as latency.
  const share = Math.ceil(paths.length / connections)
  let started = 0
  const setupClient = (client: autocannon.Client) => {
    const from = share * started++
    let asked = 0
    const setupRequest = (request: autocannon.Request) => {
      const path = paths[(from + (asked++ % share)) % paths.length] ?? ''
      return { ...request, path }
    }
    client.setRequests([{ method: 'GET', setupRequest }])
  }
  const result = await autocannon({ url, connections, duration, setupClient })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}${paths[0]}: ${result.non2xx} answers were not 200, ${result.errors} requests had none`)
  return { perSecond: result.requests.average, p99: result.latency.p99 }
}
