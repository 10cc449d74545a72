import { rm } from 'node:fs/promises'
import { atMost, type Bench, type BenchResult, type BenchSetting } from '../suite/bench.js'
import { firstRunAt } from '../suite/settings.js'
import type { WorkerRun } from '../suite/worker.js'

/** A first build of everything at growing sizes: time per project and memory must not grow. */
export const bench: Bench = {
  name: 'scale',
  about: 'first builds of 10,000 and 100,000 (--million: and 1,000,000) projects beside each other',
  byDefault: false,
  run,
}

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, million, say } = setting
  const small = setting.projects ?? (quick ? 1_000 : 10_000)
  const sizes = [small, small * 10, ...(million ? [small * 100] : [])]
  const rows: string[][] = []
  const runs: { readonly perProject: number; readonly peakMB: number }[] = []
  for (const projects of sizes) {
    const { build, bytes } = await buildOnce(projects, setting)
    const renderMs = (build.render.seconds * 1000) / projects
    const publishMs = (build.seconds * 1000) / projects - renderMs
    const peakMB = (build.peakMiB * 2 ** 20) / 1e6
    runs.push({ perProject: renderMs + publishMs, peakMB })
    rows.push([
      String(projects),
      `${(bytes / 1e6).toFixed(0)} MB`,
      ...[renderMs, publishMs, renderMs + publishMs].map((ms) => ms.toFixed(3)),
      `${peakMB.toFixed(0)} MB`,
    ])
    // A size takes minutes, so each result is printed at once.
    say(`${projects} projects: ${(renderMs + publishMs).toFixed(3)} ms each, at most ${peakMB.toFixed(0)} MB`)
  }
  const between = (values: readonly number[]) => Math.max(...values) / Math.min(...values)
  const peaks = runs.map(({ peakMB }) => peakMB)
  return {
    tables: [
      {
        title: 'Seeded projects with 12 to 60 months of gifts, every check on; milliseconds per project',
        columns: ['projects', 'texts', 'rendering', 'publishing', 'together', 'peak memory of the worker'],
        rows,
      },
    ],
    bars: [
      atMost(1.3, 'time per project, largest of smallest', between(runs.map(({ perProject }) => perProject))),
      atMost(1.1, 'peak memory of the worker, largest of smallest', between(peaks)),
      atMost(256, 'peak memory of the worker', Math.max(...peaks), 'MB'),
    ],
  }
}

async function buildOnce(
  projects: number,
  { workshop, progress }: BenchSetting,
): Promise<{ readonly build: WorkerRun; readonly bytes: number }> {
  await using database = await workshop.seeded({ projects, size: 'varied', once: true })
  const feedsDir = await workshop.folder('scale')
  try {
    await using worker = await workshop.worker(database.url, feedsDir)
    progress(`building ${projects} projects`)
    const build = await worker.run({ at: firstRunAt.toISOString(), publish: true })
    if (build.render.rendered !== projects) throw new Error(`${build.render.rendered} of ${projects} were rendered`)
    const { rows } = await database.store.db.query<{ bytes: string }>('select sum(bytes)::text as bytes from rendering')
    return { build, bytes: Number(rows[0]?.bytes ?? 0) }
  } finally {
    await rm(feedsDir, { recursive: true, force: true })
  }
}
