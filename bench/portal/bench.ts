import autocannon from 'autocannon'
import { Draft } from '../../src/publishing/folder/draft.js'
import { releaseFolder } from '../../src/publishing/folder/release-folder.js'
import { createReleaseReader } from '../../src/publishing/release/read/release-reader.js'
import { indexTexts } from '../../src/publishing/release/write/write-index.js'
import { atLeast, atMost, type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'
import { openBenchPublisher } from '../suite/publisher.js'
import { startFloor, startGiving } from '../suite/servers.js'
import { apiLimits, firstRunAt } from '../suite/settings.js'

/** Pages of a published release, beside a bare Fastify route; and what the index costs a publication. */
export const bench: Bench = {
  name: 'portal',
  about: 'pages of a release under load, beside a bare Fastify route that sends the same bytes; the cost of the index',
  byDefault: false,
  run,
}

const connections = 20
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
  const whole = rendered.seconds + published.releaseSeconds
  const indexSeconds = await timeIndex(feedsDir)
  const environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'info', ...apiLimits }
  const program = await workshop.program()
  await using api = await startGiving(program, 'api', environment, '/healthz')
  await using floor = await startFloor<string>(program, 'bench/portal/bare-fastify.js', `${api.value}/projects/1`)
  const seconds = quick ? 2 : 5
  const rounds = quick ? 3 : 5
  const every = Array.from({ length: 1_000 }, (_, at) => `/projects/${1 + ((at * 7_919) % projects)}`)
  const lists = Array.from({ length: 200 }, (_, at) => `/projects?status=2&page=${1 + at}`)
  const targets = [
    { name: 'project page, kept', url: api.value, paths: ['/projects/1'] },
    { name: 'Fastify, the same bytes', url: floor.value, paths: ['/page'] },
    { name: 'project pages, drawn and kept', url: api.value, paths: every },
    { name: '/projects with a filter', url: api.value, paths: lists },
  ]
  const results = targets.map((): { perSecond: number; p99: number }[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, { url, paths }] of targets.entries()) results[at]?.push(await load(url, paths, seconds))
  }
  const perSecond = (at: number) => median((results[at] ?? []).map((one) => one.perSecond))
  const p99 = (at: number) => median((results[at] ?? []).map((one) => one.p99))
  return {
    tables: [
      {
        title: `${projects} projects, ${connections} connections; medians`,
        columns: ['', 'requests/s', 'p99 ms'],
        rows: targets.map(({ name }, at) => [name, perSecond(at).toFixed(0), p99(at).toFixed(1)]),
      },
    ],
    notes: [`first publication ${whole.toFixed(1)} s, its index ${indexSeconds.toFixed(2)} s`],
    bars: [
      atLeast(0.5, 'project page of a bare Fastify route', perSecond(0) / perSecond(1)),
      atMost(100, '/projects with a filter, p99', p99(3), 'ms'),
      atMost(5, 'index of a publication', (100 * indexSeconds) / whole, '%'),
    ],
  }
}

/** Seconds to write the index of the live release once more, from its files. */
async function timeIndex(feedsDir: string): Promise<number> {
  const release = await createReleaseReader(feedsDir).live()
  if (!release) throw new Error('nothing was published')
  await using draft = await Draft.begin(releaseFolder(feedsDir), `${release.id}0`)
  const parts = release.manifest.files
    .map(({ path }) => path)
    .filter((path) => /^\/iati\/activities(-\d+)?\.xml$/.test(path))
  for (const path of parts) await draft.carry(path, release.id)
  const began = performance.now()
  const texts = indexTexts(
    draft,
    undefined,
    parts.map((path) => ({ path, isCarried: false })),
  )
  await (await draft.write('/iati/index.json', texts, signal)).written
  return (performance.now() - began) / 1000
}

async function load(
  url: string,
  paths: readonly string[],
  duration: number,
): Promise<{ perSecond: number; p99: number }> {
  const requests = paths.map((path) => ({ method: 'GET' as const, path }))
  const result = await autocannon({ url, connections, duration, requests })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}${paths[0]}: ${result.non2xx} answers were not 200`)
  return { perSecond: result.requests.average, p99: result.latency.p99 }
}
