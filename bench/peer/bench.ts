import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Store } from '../../src/platform/database/store.js'
import { atMost, type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'
import { runProgram } from '../suite/child.js'
import { spread } from '../suite/contest.js'
import { firstRunAt } from '../suite/settings.js'
import type { WorkerRun } from '../suite/worker.js'
import type { XmlBuilder2Result, XmlBuilder2Task } from './with-xmlbuilder2.js'

/** The same projects from rows to a file, by this program and by the usual library, each in its own process. */
export const bench: Bench = {
  name: 'peer',
  about: 'projects from rows to a released file, every check on, beside xmlbuilder2 as its documentation shows it',
  byDefault: true,
  run,
}

const published = 6_000
const changes = 100

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? (quick ? 2_000 : published)
  await using database = await workshop.seeded({ projects, size: 'small' })
  const { store, url } = database
  const [all, some, theirs]: [WorkerRun[], WorkerRun[], XmlBuilder2Result[]] = [[], [], []]
  for (let round = 1; round <= (quick ? 1 : 3); round++) {
    progress(`ours: round ${round}`)
    const feedsDir = await workshop.folder('peer')
    {
      await using worker = await workshop.worker(url, feedsDir)
      await forgetPublications(store)
      all.push(await worker.run({ at: firstRunAt.toISOString(), publish: true }))
      await store.db.query(`update project set title = title || '.' where id % $1 = 0`, [
        Math.floor(projects / changes),
      ])
      const later = new Date(firstRunAt.getTime() + 3_600_000)
      some.push(await worker.run({ at: later.toISOString(), publish: true }))
    }
    progress(`xmlbuilder2: round ${round}`)
    const file = path.join(feedsDir, 'xmlbuilder2.xml')
    const task: XmlBuilder2Task = { url, projects, file }
    theirs.push(await runProgram<XmlBuilder2Result>(await workshop.program(), 'bench/peer/with-xmlbuilder2.js', task))
    await rm(feedsDir, { recursive: true })
  }
  const peak = (runs: readonly { peakMiB: number }[]) =>
    `${Math.max(...runs.map(({ peakMiB }) => peakMiB)).toFixed(0)} MiB`
  const row = (name: string, runs: readonly WorkerRun[]) => [
    name,
    spread(runs.map(({ seconds }) => seconds)),
    spread(runs.map(({ cpuSeconds }) => cpuSeconds)),
    String(median(runs.map(({ render }) => render.rendered))),
    peak(runs),
  ]
  const per6000 = (published / projects) * median(all.map(({ seconds }) => seconds))
  const count = median(some.map(({ render }) => render.rendered))
  return {
    tables: [
      {
        title: `${projects} projects; median (spread); a process each, started anew for every round`,
        columns: ['', 'seconds', 'of them CPU of the process', 'activities', 'peak memory'],
        rows: [
          row('ours: everything', all),
          row(`ours: ${count} changes`, some),
          [
            'xmlbuilder2: one tree, then end',
            spread(theirs.map(({ seconds }) => seconds)),
            '',
            String(projects),
            peak(theirs),
          ],
          [
            'published: 720 activities/s at 155 KB each',
            (projects / 720).toFixed(1),
            '',
            String(projects),
            `${((projects * 155) / 1024).toFixed(0)} MiB`,
          ],
          ['published: 100 changes merged into 6,000', '57', '', '100', '1188 MiB'],
        ],
      },
    ],
    bars: [
      atMost(4.5, 'rows to a released file, every check on, per 6,000 activities', per6000, 's'),
      atMost(
        0.45,
        'the same, of xmlbuilder2 without checks',
        median(all.map(({ seconds }) => seconds)) / median(theirs.map(({ seconds }) => seconds)),
      ),
      atMost(3, `${count} changes in ${projects}, every check on`, median(some.map(({ seconds }) => seconds)), 's'),
    ],
    notes: [
      'Ours reads, maps, checks by our rules and the official schema, stores, assembles, compresses, syncs and switches, and makes ' +
        "the API's records and bulk files; xmlbuilder2 reads through our store, takes our mapping's elements and writes one file. " +
        'A process that has just started is slower than one that runs on: its code is not compiled yet. Lines that begin with ' +
        '"published" are other tools\' figures for activities of about 6 KB, not measured here.',
    ],
  }
}

/** Removes everything that was rendered or published. */
async function forgetPublications({ db }: Store): Promise<void> {
  await db.query(
    'truncate rendering, report_feed, wire_record, published_identifier, release, run restart identity cascade',
  )
  await db.query('update project_version set dirty = true')
}
