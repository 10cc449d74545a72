import { cpus } from 'node:os'
import type { Store } from '../../src/platform/database/store.js'
import { atLeast, type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'
import { contest, type Measured, rate, speedRatio, spread } from '../suite/contest.js'
import { databaseCpuSeconds } from '../suite/cpu.js'
import { openBenchPublisher } from '../suite/publisher.js'
import { firstRunAt } from '../suite/settings.js'
import type { BenchWorker } from '../suite/worker.js'

/** The shards of one run in two processes, as `giving worker --processes 2` shares them, beside one. */
export const bench: Bench = {
  name: 'processes',
  about: 'rendering everything in two processes that share the shards of a run, beside one',
  byDefault: true,
  run,
}

/** Seconds of CPU of a round. */
type Cpu = { readonly own: number; readonly database: number }

async function run({ quick, projects: wanted, workshop, progress }: BenchSetting): Promise<BenchResult> {
  const projects = wanted ?? (quick ? 3_000 : 6_000)
  await using database = await workshop.seeded({ projects, size: 'small' })
  const { store, url } = database
  const feedsDir = await workshop.folder('processes')
  await using planner = await openBenchPublisher({ store, feedsDir, checks: 'none', standardDir: undefined })
  await using first = await workshop.worker(url, feedsDir)
  await using second = await workshop.worker(url, feedsDir)
  await using firstReader = await workshop.worker(url, feedsDir, true)
  await using secondReader = await workshop.worker(url, feedsDir, true)

  const contender = (name: string, workers: readonly BenchWorker[]) => {
    const cpu: Cpu[] = []
    const render = async () => {
      await forgetTexts(store)
      const order = await planner.begin(firstRunAt, true)
      const shards = await planner.planShards(order)
      const total = { rendered: 0, own: 0 }
      const workThrough = async (worker: BenchWorker) => {
        for (let shard = shards.shift(); shard; shard = shards.shift()) {
          const { rendered, cpuSeconds } = await worker.renderShard({ run: order, shard })
          total.rendered += rendered
          total.own += cpuSeconds
        }
      }
      const before = await databaseCpuSeconds(store)
      const began = performance.now()
      await Promise.all(workers.map(workThrough))
      const seconds = (performance.now() - began) / 1000
      cpu.push({ own: total.own, database: (await databaseCpuSeconds(store)) - before })
      if (total.rendered !== projects) throw new Error(`${total.rendered} of ${projects} projects were rendered`)
      return seconds
    }
    return { name, cpu, run: render }
  }
  const contenders = [
    contender('one process', [first]),
    contender('two processes', [first, second]),
    contender('one process, renderings discarded', [firstReader]),
    contender('two processes, renderings discarded', [firstReader, secondReader]),
  ]
  const rounds = quick ? 2 : 3
  // A round with two processes warms the second one up, which has rendered half as much: two rounds.
  const measured = await contest(contenders, { rounds, warmUp: 2, progress })
  const [one, two, oneReading, twoReading] = measured
  const row = ({ name, seconds }: Measured, index: number) => {
    const cpu = contenders[index]?.cpu.slice(-rounds) ?? []
    const [own, server] = [median(cpu.map((one) => one.own)), median(cpu.map(({ database }) => database))]
    const least = (own + server) / cpus().length
    return [name, spread(seconds), rate(projects, seconds), ...[own, server, least].map((one) => one.toFixed(2))]
  }
  return {
    tables: [
      {
        title: `${projects} projects, every check on, on ${cpus().length} cores; median (spread)`,
        columns: ['', 'seconds', 'activities/s', 'CPU of the processes, s', 'of the database, s', 'together, by core'],
        rows: measured.map(row),
      },
    ],
    bars: [
      atLeast(1.25, 'two processes, of one', speedRatio(two, one)),
      atLeast(1.7, 'two processes, of one, with a database that only reads', speedRatio(twoReading, oneReading)),
    ],
    notes: [
      'Nothing is faster than its CPU by core: where two processes take hardly longer than that, the machine is full.',
    ],
  }
}

/** Removes everything that was rendered. */
async function forgetTexts({ db }: Store): Promise<void> {
  await db.query('truncate rendering, activity_rows, report_feed, wire_record')
}
