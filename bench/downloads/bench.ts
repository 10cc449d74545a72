import { realpath, stat } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { createPasswordHashing } from '../../src/accounts/passwords.js'
import { createApiUser } from '../../src/http/api/operations/create-api-user.js'
import type { Store } from '../../src/platform/database/store.js'
import { listRuns } from '../../src/work/sql/runs.js'
import { atLeast, atMost, type Bench, type BenchResult, type BenchSetting } from '../suite/bench.js'
import { runNode } from '../suite/child.js'
import { type Contender, contest, rate, secondsOf, speedRatio } from '../suite/contest.js'
import { type RunningServer, startFloor, startGiving } from '../suite/servers.js'
import { apiLimits, baseUrl, currency, describedLimits, mappingConfig } from '../suite/settings.js'

/** Readers of a large feed, served by the process that publishes it, beside bare streams over the same files. */
export const bench: Bench = {
  name: 'downloads',
  about: '64 readers of a feed of 20 MB, beside node:http with createReadStream on the same files',
  byDefault: true,
  run,
}

const readers = 64
const address = '/iati/activities.xml'

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? 2_500
  await using database = await workshop.seeded({ projects, size: 'small', rendered: true })
  // One file, larger than a segment becomes.
  await database.store.db.query('update rendering set segment = 1')
  const apiKey = await makeApiKey(database.store)
  const dataDir = await workshop.folder('downloads')
  const environment = {
    DATABASE_URL: database.url,
    GIVING_DATA_DIR: dataDir,
    BASE_URL: baseUrl,
    REPORTING_ORG_REF: mappingConfig.reportingOrg.ref,
    FACTS_CONFIRMED: 'yes',
    REPORTING_ORG_NAME: mappingConfig.reportingOrg.name,
    REPORTING_ORG_TYPE: mappingConfig.reportingOrg.type,
    DEFAULT_CURRENCY: currency,
    LOG_LEVEL: 'warn',
    ...apiLimits,
  }
  const program = await workshop.program()
  progress('publishing the feed')
  await using giving = await startGiving(program, 'start', environment, address)
  // After its release is live the run still builds the bulk files of the API.
  while ((await listRuns(database.store.db, 1))[0]?.finishedAt === undefined) await sleep(200)
  const file = path.join(await realpath(path.join(dataDir, 'feeds/current')), address)
  await using bare = await startFloor<string>(program, 'bench/downloads/bare-server.js', file)
  const sizes = { identity: (await stat(file)).size, gzip: (await stat(`${file}.gz`)).size }

  const rounds = quick ? 3 : 7
  const rows: string[][] = []
  const bars = []
  for (const encoding of ['identity', 'gzip'] as const) {
    // A twin is a tenth of its file: more downloads make rounds of a similar length.
    const each = encoding === 'identity' ? 1 : 4
    const contender = (name: string, { value: url }: RunningServer): Contender => ({
      name: `${name}, ${encoding}`,
      run: () => secondsOf(() => download(url + address, { encoding, each, bytes: sizes[encoding] })),
    })
    const contenders = [contender('ours', giving), contender('node:http', bare)]
    const measured = await contest(contenders, { rounds, warmUp: 2, progress })
    const [ours, floor] = measured
    const megabytes = (readers * each * sizes[encoding]) / 1e6
    for (const one of measured)
      rows.push([one.name, rate(megabytes, one.seconds), rate(readers * each, one.seconds, 1)])
    bars.push(atLeast(0.9, `downloads, ${encoding}, of node:http with createReadStream`, speedRatio(ours, floor)))
  }
  const reads = await apiDuringPublication({ program, url: giving.value, apiKey, environment, progress })
  progress('first reads of records')
  const firstReads = await readUnrendered(database.store, giving.value, apiKey)
  return {
    tables: [
      {
        title:
          `${readers} readers at a time of ${(sizes.identity / 1e6).toFixed(1)} MB, gzip ${(sizes.gzip / 1e6).toFixed(1)} MB; ` +
          `server, floor and readers share the machine; ${describedLimits}; median (spread)`,
        columns: ['', 'MB/s', 'downloads/s'],
        rows,
      },
      {
        title: 'A list page of the API, 10 connections, while the same process publishes',
        columns: ['', 'requests/s', 'median, ms', 'p99, ms', 'longest, ms'],
        rows: reads.map(({ name, perSecond, milliseconds }) => [name, perSecond, ...milliseconds].map(whole)),
      },
    ],
    bars: [
      ...bars,
      atMost(
        2,
        'p99 of a list page during a publication, of quiet',
        reads[1].milliseconds[1] / reads[0].milliseconds[1],
      ),
      atMost(
        20,
        'first read of a record that is not rendered, p99',
        firstReads[Math.floor(firstReads.length * 0.99)] ?? 0,
        'ms',
      ),
    ],
  }
}

async function makeApiKey(store: Store): Promise<string> {
  const passwords = createPasswordHashing({ memoryCost: 8, timeCost: 1, parallelism: 1 })
  const user = { email: 'bench@example.org', password: 'seven grey herons wade', tokenTimeoutSeconds: 36_000 }
  return (await createApiUser({ store, passwords, clock: () => new Date() }, user)).apiKey
}

type Download = { readonly encoding: 'identity' | 'gzip'; readonly each: number; readonly bytes: number }

/** Every reader downloads the file `each` times, one after the other. Throws when a download is too short. */
async function download(url: string, { encoding, each, bytes }: Download): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: readers })
  const once = () =>
    new Promise<number>((resolve, reject) => {
      get(url, { agent, headers: { 'accept-encoding': encoding } }, (response) => {
        let length = 0
        response.on('data', (chunk: Buffer) => {
          length += chunk.length
        })
        response.on('end', () => resolve(response.statusCode === 200 ? length : 0)).on('error', reject)
      }).on('error', reject)
    })
  try {
    await Promise.all(
      Array.from({ length: readers }, async () => {
        for (let time = 0; time < each; time++) {
          const length = await once()
          if (length !== bytes) throw new Error(`expected ${bytes} bytes from ${url}, got ${length}`)
        }
      }),
    )
  } finally {
    agent.destroy()
  }
}

type Publication = {
  readonly program: string
  readonly url: string
  readonly apiKey: string
  readonly environment: NodeJS.ProcessEnv
  progress(what: string): void
}

type Reads = {
  readonly name: string
  readonly perSecond: number
  /** Median, p99, longest. */
  readonly milliseconds: readonly [number, number, number]
}

const whole = (value: string | number) => (typeof value === 'string' ? value : value.toFixed(0))

/** Reads while the process is idle, and while it renders and publishes everything again. */
async function apiDuringPublication(given: Publication): Promise<readonly [Reads, Reads]> {
  const { program, url, apiKey, environment, progress } = given
  const page = `${url}/api/public/projectservice/all/projects.json?api_key=${apiKey}&nextProjectId=`
  const load = async (name: string, until: Promise<unknown>): Promise<Reads> => {
    progress(`API reads, ${name}`)
    const { requests, latency, non2xx, errors } = await new Promise<autocannon.Result>((resolve, reject) => {
      const options = { url: `${page}1`, connections: 10, duration: 300 }
      const running = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
      until.then(() => running.stop(), reject)
    })
    if (non2xx + errors > 0) throw new Error(`${non2xx + errors} requests failed, ${name}`)
    return { name, perSecond: requests.average, milliseconds: [latency.p50, latency.p99, latency.max] }
  }
  const quiet = await load('quiet', new Promise((resolve) => setTimeout(resolve, 3_000)))
  // Requested by another process, done by the worker of this one.
  const publication = runNode(program, ['src/cli.js', 'publish', '--wait', '--force', '--json'], {
    environment,
    codes: [0],
  })
  return [quiet, await load('during a publication of everything', publication)]
}

/** Milliseconds, ascending, of reads of projects whose records were taken away, one after the other. */
async function readUnrendered({ db }: Store, url: string, apiKey: string): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `delete from wire_record where project_id in (select id from project where active order by id limit 1000)
      returning project_id as id`,
  )
  const times: number[] = []
  for (const { id } of rows) {
    const began = performance.now()
    const answer = await fetch(`${url}/api/public/projectservice/projects/${id}.json?api_key=${apiKey}`)
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`expected project ${id}, got ${answer.status}`)
    times.push(performance.now() - began)
  }
  return times.sort((a, b) => a - b)
}
