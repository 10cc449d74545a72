import { rm } from 'node:fs/promises'
import { atMost, type Bench, type BenchResult, type BenchSetting } from '../suite/bench.js'
import { bytesOnDisk } from '../suite/bytes-on-disk.js'
import { databaseCpuSeconds } from '../suite/cpu.js'
import { firstRunAt } from '../suite/settings.js'
import type { Rows } from '../suite/workshop.js'
import { changedPlans, type Plans, watchPlans } from './plans.js'

/** A first build of everything at growing sizes: time per project and memory must not grow. */
export const bench: Bench = {
  name: 'scale',
  about: 'first builds of 2,000 to 300,000 (--million: 1,000,000) projects beside each other',
  byDefault: false,
  run,
}

type Size = Pick<Rows, 'projects' | 'size'> & { readonly judged: readonly ('time' | 'memory')[] }

// A varied project takes 200 KB of disk, a small one less than a third: together below 25 GB at any moment.
const sizes: readonly Size[] = [
  { size: 'varied', projects: 2_000, judged: ['memory'] },
  { size: 'varied', projects: 10_000, judged: ['time'] },
  { size: 'varied', projects: 20_000, judged: ['memory'] },
  { size: 'varied', projects: 100_000, judged: ['time', 'memory'] },
  { size: 'small', projects: 10_000, judged: ['time'] },
  { size: 'small', projects: 100_000, judged: ['time'] },
  { size: 'small', projects: 300_000, judged: ['time'] },
]
const largest = 300_000
const million = 1_000_000

/** What one build took. */
type Built = Size & {
  readonly renderMs: number
  readonly publishMs: number
  /** Processor time for rendering and publishing a project: of the worker, and of the server's processes. */
  readonly workerCpuMs: number
  readonly databaseCpuMs: number
  readonly peakMB: number
  readonly databaseMB: number
  readonly releaseMB: number
  readonly plans: Plans
}

async function run(setting: BenchSetting): Promise<BenchResult> {
  const scale = (setting.projects ?? (setting.quick ? 15_000 : largest)) / largest
  const wanted = sizes.map((size) => ({ ...size, projects: Math.max(10, Math.round(size.projects * scale)) }))
  if (setting.million) wanted.push({ size: 'varied', projects: million, judged: ['time'] })
  const builds: Built[] = []
  for (const size of wanted) {
    const built = await buildOnce(size, setting)
    builds.push(built)
    // A size takes minutes, so each result is printed at once.
    setting.say(rowOf(built).join('  '))
  }
  const judged = (by: 'time' | 'memory', size: Size['size'] = 'varied') =>
    builds.filter((built) => built.size === size && built.judged.includes(by))
  const growth = (values: readonly number[]) => Math.max(...values) / Math.min(...values)
  const peaks = judged('memory').map(({ peakMB }) => peakMB)
  const planTable = (size: Size['size']) => {
    const [first, last] = [judged('time', size)[0], judged('time', size).at(-1)]
    return {
      title: `Statements with another plan at ${last?.projects} ${size} projects than at ${first?.projects}`,
      columns: ['statement', 'only in the first', 'only in the second'],
      rows: first && last ? changedPlans(first.plans, last.plans) : [],
    }
  }
  const [before, last] = judged('time').slice(-2)
  return {
    tables: [
      { title: 'Every check on; milliseconds per project', columns, rows: builds.map(rowOf) },
      planTable('varied'),
      planTable('small'),
    ],
    bars: [
      atMost(1.3, 'time per varied project, largest of smallest', growth(judged('time').map(millisecondsOf))),
      atMost(1.3, 'time per small project, largest of smallest', growth(judged('time', 'small').map(millisecondsOf))),
      atMost(1.1, 'peak memory of the worker, largest of smallest', growth(peaks)),
      atMost(256, 'peak memory of the worker', Math.max(...peaks), 'MB'),
    ],
    notes: before && last && !setting.million ? [extrapolated(before, last)] : [],
  }
}

const columns = [
  ...['projects', 'rendering', 'publishing', 'together', 'CPU of the worker', 'CPU of the database'],
  ...['peak memory of the worker', 'database', 'files'],
]

/** What a million would take if time per project grew on as it did between the two largest sizes. */
function extrapolated(before: Built, last: Built): string {
  const steps = Math.log(million / last.projects) / Math.log(last.projects / before.projects)
  const growth = Math.max(1, millisecondsOf(last) / millisecondsOf(before)) ** steps
  const hours = (millisecondsOf(last) * growth * million) / 3_600_000
  const [database, release] = [last.databaseMB, last.releaseMB].map((MB) => (MB / last.projects) * (million / 1000))
  return (
    `A million varied projects, extrapolated and not measured: ${hours.toFixed(1)} hours, ` +
    `${database?.toFixed(0)} GB of database and ${release?.toFixed(0)} GB of files.`
  )
}

function millisecondsOf({ renderMs, publishMs }: Built): number {
  return renderMs + publishMs
}

function rowOf(built: Built): string[] {
  const { renderMs, publishMs, workerCpuMs, databaseCpuMs } = built
  return [
    `${built.projects} ${built.size}`,
    ...[renderMs, publishMs, millisecondsOf(built), workerCpuMs, databaseCpuMs].map((ms) => ms.toFixed(3)),
    ...[built.peakMB, built.databaseMB, built.releaseMB].map((MB) => `${MB.toFixed(0)} MB`),
  ]
}

async function buildOnce(size: Size, { workshop, progress }: BenchSetting): Promise<Built> {
  const { projects } = size
  await using database = await workshop.seeded({ projects, size: size.size, once: true })
  const feedsDir = await workshop.folder('scale')
  const { db } = database.store
  try {
    const plansOf = await watchPlans(database.store)
    await using worker = await workshop.worker(database.url, feedsDir)
    progress(`building ${projects} projects`)
    const cpuBefore = await databaseCpuSeconds(database.store)
    const build = await worker.run({ at: firstRunAt.toISOString(), publish: true })
    if (build.render.rendered !== projects) throw new Error(`${build.render.rendered} of ${projects} were rendered`)
    const databaseCpuSpent = (await databaseCpuSeconds(database.store)) - cpuBefore
    const renderMs = (build.render.seconds * 1000) / projects
    const { rows } = await db.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes')
    return {
      ...size,
      renderMs,
      publishMs: (build.seconds * 1000) / projects - renderMs,
      workerCpuMs: (build.cpuSeconds * 1000) / projects,
      databaseCpuMs: (databaseCpuSpent * 1000) / projects,
      peakMB: (build.peakMiB * 2 ** 20) / 1e6,
      databaseMB: (rows[0]?.bytes ?? 0) / 1e6,
      releaseMB: (await bytesOnDisk(feedsDir)) / 1e6,
      plans: await plansOf(),
    }
  } finally {
    await rm(feedsDir, { recursive: true, force: true })
  }
}
