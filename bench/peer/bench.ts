import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Store } from '../../src/platform/database/store.js'
import { officialFiles } from '../../test/support/values/borrowed-files.js'
import { atMost, type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'
import { runProgram } from '../suite/child.js'
import { spread } from '../suite/contest.js'
import { databaseCpuSeconds } from '../suite/cpu.js'
import { firstRunAt } from '../suite/settings.js'
import type { XmlBuilder2Result, XmlBuilder2Task } from './with-xmlbuilder2.js'

/** The same projects from rows to a file, by this program and by the usual library, each in its own process. */
export const bench: Bench = {
  name: 'peer',
  about:
    'CPU of projects from rows to a released file, beside xmlbuilder2 that does the same work, and as its documentation shows it',
  byDefault: true,
  run,
}

const published = 6_000
const changes = 100

/** One run: of the process and of the database's server. */
type Measured = XmlBuilder2Result & { readonly databaseSeconds: number }

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? (quick ? 2_000 : published)
  const standardDir = officialFiles()
  await using database = await workshop.seeded({ projects, size: 'small' })
  const { store, url } = database
  const [all, some, fair, bare]: [Measured[], Measured[], Measured[], Measured[]] = [[], [], [], []]
  const measure = async (into: Measured[], work: () => Promise<XmlBuilder2Result>) => {
    const before = await databaseCpuSeconds(store)
    const result = await work()
    into.push({ ...result, databaseSeconds: (await databaseCpuSeconds(store)) - before })
  }
  for (let round = 1; round <= (quick ? 1 : 3); round++) {
    progress(`ours: round ${round}`)
    const feedsDir = await workshop.folder('peer')
    {
      await using worker = await workshop.worker(url, feedsDir)
      await forgetPublications(store)
      const publish = (at: Date) => worker.run({ at: at.toISOString(), publish: true })
      await measure(all, () => publish(firstRunAt))
      await store.db.query(`update project set title = title || '.' where id % $1 = 0`, [
        Math.floor(projects / changes),
      ])
      await measure(some, () => publish(new Date(firstRunAt.getTime() + 3_600_000)))
    }
    const ask = async (task: Pick<XmlBuilder2Task, 'standardDir'>) => {
      const file = path.join(feedsDir, 'xmlbuilder2.xml')
      const argument: XmlBuilder2Task = { url, projects, file, ...task }
      return await runProgram<XmlBuilder2Result>(await workshop.program(), 'bench/peer/with-xmlbuilder2.js', argument)
    }
    progress(`xmlbuilder2, the same work: round ${round}`)
    if (standardDir) await measure(fair, () => ask({ standardDir }))
    progress(`xmlbuilder2, one tree: round ${round}`)
    await measure(bare, () => ask({}))
    await rm(feedsDir, { recursive: true })
  }
  const cpu = ({ cpuSeconds }: Measured) => cpuSeconds
  const both = ({ cpuSeconds, databaseSeconds }: Measured) => cpuSeconds + databaseSeconds
  const ratio = (theirs: readonly Measured[], of: (one: Measured) => number) =>
    median(all.map(of)) / median(theirs.map(of))
  const elapsed = ({ seconds }: Measured) => seconds
  const row = (name: string, runs: readonly Measured[]) => [
    name,
    ...[cpu, ({ databaseSeconds }: Measured) => databaseSeconds, elapsed].map((of) => spread(runs.map(of))),
    `${peakOf(runs).toFixed(0)} MiB`,
  ]
  return {
    tables: [
      {
        title: `${projects} projects; median (spread); a process each, started anew for every round`,
        columns: ['', 'CPU of the process, s', 'of the database, s', 'elapsed, s', 'peak memory'],
        rows: [
          row('ours: everything', all),
          row(`ours: ${changes} changes`, some),
          row('xmlbuilder2: the same work, an activity at a time', fair),
          row('xmlbuilder2: one tree, then end', bare),
        ],
      },
    ],
    bars: [
      atMost(0.6, "first build, worker's CPU, of xmlbuilder2 that does the same work", ratio(fair, cpu)),
      atMost(0.7, "the same with the database's", ratio(fair, both)),
      atMost(0.85, "first build, worker's CPU, of xmlbuilder2 without checks", ratio(bare, cpu)),
      atMost(220, 'peak memory', peakOf(all), 'MiB'),
      atMost(1.2, `${changes} changes in ${projects}, every check on`, median(some.map(elapsed)), 's'),
      atMost(0.08, 'the same, of the first build', median(some.map(elapsed)) / median(all.map(elapsed))),
    ],
    notes: [
      'Ours reads, maps, checks by our rules and the official schema, stores, assembles, compresses, syncs and switches, and makes ' +
        "the API's records, tables, feeds, catalogues and bulk files. The same work of xmlbuilder2: the official schema, SHA-256, gzip, " +
        "CSV, and the API's records in PostgreSQL. Both of its ways read through our store and take our mapping's elements.",
      'Limits, no bars: 4.5 s per 6,000 activities and 0.45 of the seconds of bare xmlbuilder2 depend on the machine and on what else ' +
        'it does; a process that has just started compiles its code, which is a fifth of its CPU.',
      'Published elsewhere, of activities of about 6 KB: 720 activities a second at 155 KB of memory each; 100 changes merged into 6,000 ' +
        'in 57 s with 1,188 MiB.',
    ],
  }
}

function peakOf(runs: readonly Measured[]): number {
  return Math.max(...runs.map(({ peakMiB }) => peakMiB))
}

/** Removes everything that was rendered or published. */
async function forgetPublications({ db }: Store): Promise<void> {
  await db.query(
    'truncate rendering, report_feed, wire_record, published_identifier, release, run restart identity cascade',
  )
  await db.query('update project_version set dirty = true')
}
