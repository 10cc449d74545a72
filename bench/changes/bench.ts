import { readdir, readlink, stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../src/platform/database/store.js'
import { readSteadily } from '../../test/support/portal/steady-reads.js'
import { atMost, type Bench, type BenchResult, type BenchSetting } from '../suite/bench.js'
import { startGiving } from '../suite/servers.js'
import { apiLimits } from '../suite/settings.js'

/** A full build, a day with few changes, days without changes: the cost of a daily export. */
export const bench: Bench = {
  name: 'changes',
  about:
    'a day with 1% of the projects changed, one with one, and one without changes, beside the first build of everything',
  byDefault: true,
  run,
}

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? (quick ? 10_000 : 100_000)
  await using database = await workshop.seeded({ projects, size: 'small', once: true })
  const { store, url } = database
  const dataDir = await workshop.folder('changes')
  const feedsDir = path.join(dataDir, 'feeds')
  await using worker = await workshop.worker(url, feedsDir)
  // All on one UTC day: what changes with the day is not measured here.
  const build = async (what: string, hour: number) => {
    progress(`${projects} projects: ${what}`)
    return await worker.run({ at: new Date(Date.UTC(2026, 10, 21, hour)).toISOString(), publish: true })
  }
  const full = await build('everything', 1)
  // A night comes a day later, when PostgreSQL has vacuumed and analysed.
  await store.db.query('vacuum analyze')
  // Files are in the order of ids: the changed projects are spread over all of them.
  const { rowCount } = await store.db.query(`update project set title = title || '.' where id % 100 = 7`)
  const changed = await build('1% changed', 2)
  const onePercent = await filesIn(feedsDir)
  await store.db.query(`update project set title = title || '.' where id = 7`)
  const one = await build('one changed', 3)
  const written = await writtenSince(feedsDir, onePercent)
  const before = await fingerprintOf(feedsDir)
  const quiet = [await build('no changes', 4), await build('no changes', 5), await build('no changes', 6)]
  const untouched = before === (await fingerprintOf(feedsDir))
  // The best of three leaves out disturbances by other processes.
  const [still] = quiet.toSorted((a, b) => a.seconds - b.seconds)
  const reads = await readDuringNights(setting, { store, url, dataDir, projects }, build)
  if (!still?.publish || !changed.publish || !one.publish || !full.publish) throw new Error('a run did not publish')
  if (changed.render.rendered !== rowCount) throw new Error(`${changed.render.rendered} of ${rowCount} were rendered`)
  const row = (name: string, one: typeof full) => [
    name,
    String(one.render.rendered),
    one.render.seconds.toFixed(2),
    (one.publish?.releaseSeconds ?? 0).toFixed(2),
    (one.publish?.bulkSeconds ?? 0).toFixed(2),
    one.seconds.toFixed(2),
    one.publish?.state ?? '',
  ]
  return {
    tables: [
      {
        title: `${projects} projects, ${await megabytesOf(store)} MB, checks on`,
        columns: ['', 'rendered', 'rendering, s', 'release, s', 'bulk files, s', 'together, s', 'outcome'],
        rows: [row('everything', full), row('1% changed', changed), row('one changed', one), row('no changes', still)],
      },
      {
        title: `Pages, files and searches of the API, ${readsPerSecond} a second, while a worker renders and publishes nights of 1%`,
        columns: ['', 'requests', 'median, ms', 'p99, ms', 'longest, ms'],
        rows: [
          readsRow('quiet', reads.quiet),
          readsRow(`beside ${nights} nights`, reads.busy),
          readsRow('of these, until the release is live', reads.beforeLive),
          readsRow('until the service draws pages from it', reads.afterLive),
        ],
      },
    ],
    bars: [
      atMost(0.03, 'rendering of 1% changed, of rendering everything', changed.render.seconds / full.render.seconds),
      atMost(
        1,
        'assembling after 1% changed, of assembling everything',
        changed.publish.releaseSeconds / full.publish.releaseSeconds,
      ),
      atMost(
        1.2,
        `one of ${projects} changed, from publish to live`,
        one.render.seconds + one.publish.releaseSeconds,
        's',
      ),
      atMost(
        8,
        `1% of ${projects} changed, release and bulk files`,
        changed.publish.releaseSeconds + changed.publish.bulkSeconds,
        's',
      ),
      atMost(12, `1% of ${projects} changed, rendered and published`, changed.seconds, 's'),
      atMost(1.5, 'p99 of the API beside such nights, of quiet', at(0.99, reads.busy) / at(0.99, reads.quiet)),
      atMost(40, 'written for it, bulk files included', written / 1e6, 'MB'),
      atMost(0.02, 'a day without changes, of a full build', still.seconds / full.seconds),
      atMost(0, 'files touched by three days without changes', untouched ? 0 : 1),
    ],
    notes: [
      'A release is all from the plan over assembling, guards and syncing to the switch. The bulk files are those of the API, ' +
        'made once a day: each run here stands for a day. Their sets are hard links where nothing changed, and are not among ' +
        'the files that must not be touched.',
    ],
  }
}

const readsPerSecond = 30
const nights = 3

const at = (share: number, sorted: readonly number[]) => sorted[Math.floor(share * sorted.length)] ?? Number.NaN

const readsRow = (name: string, took: readonly number[]) => [
  name,
  String(took.length),
  ...[at(0.5, took), at(0.99, took), took.at(-1) ?? Number.NaN].map((ms) => ms.toFixed(1)),
]

type PublishedWorld = {
  readonly store: Store
  readonly url: string
  readonly dataDir: string
  readonly projects: number
}

/** How long reads of `giving api` take before and during nights of 1%, in milliseconds, ascending. */
async function readDuringNights(
  { workshop, progress }: BenchSetting,
  { store, url, dataDir, projects }: PublishedWorld,
  build: (what: string, hour: number) => Promise<unknown>,
): Promise<Record<'quiet' | 'busy' | 'beforeLive' | 'afterLive', readonly number[]>> {
  const environment = { DATABASE_URL: url, GIVING_DATA_DIR: dataDir, ...apiLimits }
  await using api = await startGiving(await workshop.program(), 'api', environment, '/healthz')
  const reads = { baseUrl: api.value, projects, perSecond: readsPerSecond }
  progress('reads of the API, quiet')
  // It opens the release for the first search, and compiles its code.
  await (await fetch(`${api.value}/projects?q=water`)).arrayBuffer()
  await readSteadily(reads, sleep(10_000))
  const quiet = await readSteadily(reads, sleep(40_000))
  const [beforeLive, afterLive]: [number[], number[]] = [[], []]
  for (let night = 0; night < nights; night++) {
    await store.db.query(`update project set title = title || '.' where id % 100 = $1`, [10 + night])
    beforeLive.push(...(await readSteadily(reads, build('1% changed, beside reads', 7 + night))))
    // Pages are of the release before until the service has opened the new one.
    afterLive.push(...(await readSteadily(reads, untilDrawn(api.value, dataDir))))
  }
  const ascending = (took: readonly number[]) => took.toSorted((a, b) => a - b)
  const busy = ascending([...beforeLive, ...afterLive])
  return { quiet, busy, beforeLive: ascending(beforeLive), afterLive: ascending(afterLive) }
}

/** Waits until pages are drawn from the live release, which each page names. */
async function untilDrawn(baseUrl: string, dataDir: string): Promise<void> {
  const live = path.basename(await readlink(path.join(dataDir, 'feeds/current')))
  const isDrawn = async () => (await (await fetch(baseUrl)).text()).includes(live)
  while (!(await isDrawn())) await sleep(500)
}

async function megabytesOf({ db }: Store): Promise<string> {
  const { rows } = await db.query<{ bytes: string }>('select sum(bytes)::text as bytes from rendering')
  return (Number(rows[0]?.bytes ?? 0) / 1e6).toFixed(0)
}

/** Every file under the folder once, however many addresses it has: bytes on disk by inode. */
async function filesIn(folder: string): Promise<Map<number, number>> {
  const files = new Map<number, number>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const { ino, blocks } = await stat(path.join(entry.parentPath, entry.name))
    files.set(ino, blocks * 512)
  }
  return files
}

/** Bytes on disk of files that are new since then. */
async function writtenSince(folder: string, before: ReadonlyMap<number, number>): Promise<number> {
  let bytes = 0
  for (const [ino, size] of await filesIn(folder)) if (!before.has(ino)) bytes += size
  return bytes
}

/** Every path under the folder with the attributes that would change if it was written. */
async function fingerprintOf(folder: string): Promise<string> {
  const lines: string[] = []
  // The bulk files are a new set each day.
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (path.relative(folder, file).startsWith('bulk')) continue
    if (entry.isSymbolicLink()) lines.push(`${file} ${await readlink(file)}`)
    else if (entry.isFile()) {
      const { ino, size, mtimeMs } = await stat(file)
      lines.push(`${file} ${ino} ${size} ${mtimeMs}`)
    }
  }
  return lines.sort().join('\n')
}
