import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { randomFrom } from '../../test/support/values/random.js'
import { atLeast, atMost, type Bench, type BenchResult, type BenchSetting } from '../suite/bench.js'
import { runNode } from '../suite/child.js'
import { currency } from '../suite/settings.js'

/** `giving import` of single gifts as a user runs it, in a process of its own, its start included; then the same again. */
export const bench: Bench = {
  name: 'gifts',
  about: 'giving import of a million single gifts, and of the same file again',
  byDefault: false,
  run,
}

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? 2_000
  const gifts = quick ? 50_000 : 1_000_000
  await using database = await workshop.seeded({ projects, size: 'small', once: true })
  const folder = await workshop.folder('gifts')
  const file = path.join(folder, 'gifts.csv')
  await pipeline(csvOf(gifts, projects), createWriteStream(file))
  const environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: folder, DEFAULT_CURRENCY: currency }
  const program = await workshop.program()
  const importing = async (expected: 'created' | 'unchanged') => {
    progress(`giving import: ${gifts} gifts, ${expected}`)
    const result = await runNode(program, ['src/cli.js', 'import', file, '--json'], { environment })
    const summary = JSON.parse(result.output) as Readonly<Record<string, number>>
    if (summary[expected] !== gifts) throw new Error(`${summary[expected]} of ${gifts} gifts are ${expected}`)
    return { ...result, peakMB: ((result.peakMiB ?? Number.NaN) * 2 ** 20) / 1e6 }
  }
  const first = await importing('created')
  const again = await importing('unchanged')
  return {
    tables: [
      {
        title: `${gifts} gifts to ${projects} projects, by day`,
        columns: ['', 'seconds', 'gifts/s', 'peak memory'],
        rows: Object.entries({ new: first, again }).map(([name, { seconds, peakMB }]) => [
          ...[name, seconds.toFixed(1), (gifts / seconds).toFixed(0), `${peakMB.toFixed(0)} MB`],
        ]),
      },
    ],
    bars: [
      atLeast(5_000, 'new gifts', gifts / first.seconds, 'a second'),
      atMost(0.2, 'the same file again', again.seconds / first.seconds),
      atMost(256, 'peak memory', Math.max(first.peakMB, again.peakMB), 'MB'),
    ],
  }
}

function* csvOf(gifts: number, projects: number): Generator<string> {
  const random = randomFrom(1)
  // As dense as a million in five years: fewer gifts are of fewer days.
  const [first, days] = [Date.UTC(2021, 0, 1), (5 * 365 * gifts) / 1_000_000]
  yield 'project,date,amount,currency,reference\n'
  for (let at = 0; at < gifts; at++) {
    const day = new Date(first + Math.floor((days * at) / gifts) * 86_400_000).toISOString().slice(0, 10)
    const project = 1 + Math.floor(projects * random())
    yield `${project},${day},${5 * (1 + Math.floor(random() * 500))}.00,${currency},G-${at}\n`
  }
}
