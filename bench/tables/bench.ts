import type { Store } from '../../src/platform/database/store.js'
import { Draft } from '../../src/release/folder/draft.js'
import { prepareFolder, releaseFolder } from '../../src/release/folder/release-folder.js'
import { planRelease } from '../../src/release/plan/plan-release.js'
import { assignSegments } from '../../src/release/sql/renderings.js'
import { assignReportPlaces } from '../../src/release/sql/report-archives.js'
import { writeFiles } from '../../src/release/write/write-release.js'
import { atMost, type Bench, type BenchResult, type BenchSetting } from '../suite/bench.js'
import { type Contender, contest, speedRatio, spread } from '../suite/contest.js'
import { firstRunAt, mappingConfig } from '../suite/settings.js'

/** A whole release with its tables, beside the same release without them. */
export const bench: Bench = {
  name: 'tables',
  about: 'all files of a release with the tables in CSV and Parquet, beside the same without them',
  byDefault: true,
  run,
}

const { signal } = new AbortController()

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? (quick ? 2_000 : 6_000)
  await using database = await workshop.seeded({ projects, size: 'small', rendered: true })
  const { store } = database
  await store.transaction((db) => assignSegments(db))
  await store.transaction(assignReportPlaces)
  const feedsDir = await workshop.folder('tables')
  const peaks = { without: 0, with: 0 }
  const write = (name: keyof typeof peaks): Contender => ({
    name: `a release ${name} tables`,
    run: async () => {
      const { seconds, peakMiB } = await assemble(store, feedsDir, name === 'with')
      // Memory is not given back, so the first to take it counts.
      if (peaks.with === 0 || name === 'with') peaks[name] = Math.max(peaks[name], peakMiB)
      return seconds
    },
  })
  await contest([write('without')], { rounds: 3, warmUp: 1, progress })
  const measured = await contest([write('without'), write('with')], { rounds: quick ? 5 : 11, warmUp: 1, progress })
  const [without, withTables] = measured
  const { rows } = await store.db.query<{ texts: number; csv: number; parquet: number }>(
    `select sum(bytes) / 1e6 as texts, sum(length(csv)) / 1e6 as csv, sum(length(parquet)) / 1e6 as parquet
      from rendering join activity_rows using (project_id)`,
  )
  return {
    tables: [
      {
        title: `${projects} activities, MB of text and rows: ${rows.flatMap(Object.values).map(Math.round)}; seconds, median (spread)`,
        columns: ['', 'seconds'],
        rows: measured.map(({ name, seconds }) => [name, spread(seconds, 3)]),
      },
    ],
    bars: [
      atMost(1.25, 'a release with tables, of one without', speedRatio(without, withTables)),
      atMost(30, 'memory that tables take beyond it', peaks.with - peaks.without, 'MiB'),
    ],
  }
}

async function assemble(
  store: Store,
  feedsDir: string,
  withTables: boolean,
): Promise<{ readonly seconds: number; readonly peakMiB: number }> {
  const folder = releaseFolder(feedsDir)
  await prepareFolder(folder)
  const run = { id: 1, startedAt: firstRunAt, force: false, trigger: 'schedule' } as const
  let peak = 0
  const watching = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 10)
  try {
    await using draft = await Draft.begin(folder, 'bench')
    return await store.snapshot(async (db, client) => {
      const began = performance.now()
      const snapshot = { db, client }
      const plan = await planRelease({ mappingConfig, addFiles: [] }, run, snapshot, undefined)
      if (plan.verdict !== 'build') throw new Error(`the plan is ${plan.verdict}`)
      const files = plan.files.filter(({ path }) => withTables || !path.startsWith('/data/'))
      const onProgress = () => undefined
      const build = {
        config: mappingConfig,
        run,
        draft,
        live: undefined,
        chain: [],
        store,
        snapshot,
        signal,
        onProgress,
      }
      await writeFiles(build, { ...plan, files })
      return { seconds: (performance.now() - began) / 1000, peakMiB: peak / 2 ** 20 }
    })
  } finally {
    clearInterval(watching)
  }
}
