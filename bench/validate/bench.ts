import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { iatiEnvelope } from '../../src/iati/mapping/envelope.js'
import { isoInstantOf } from '../../src/kernel/dates.js'
import { copyRows } from '../../src/platform/database/copy-rows.js'
import type { Store } from '../../src/platform/database/store.js'
import { officialFiles } from '../../test/support/values/borrowed-files.js'
import { atLeast, atMost, type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'
import { type NodeResult, runNode } from '../suite/child.js'
import { rate, spread } from '../suite/contest.js'
import { firstRunAt } from '../suite/settings.js'

/** `giving validate` as a user runs it, in a process of its own, its start included. */
export const bench: Bench = {
  name: 'validate',
  about: "giving validate over one large file, beside another validator's published 130 activities a second",
  byDefault: true,
  run,
}

const publishedPerSecond = 130

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? (quick ? 2_000 : 6_000)
  await using database = await workshop.seeded({ projects, size: 'small', rendered: true })
  const file = path.join(await workshop.folder('validate'), 'activities.xml')
  const bytes = await writeActivities(database.store, file)
  const official = officialFiles()
  const variants = [
    { name: 'our checks', environment: { IATI_STANDARD_DIR: '' }, runs: [] as NodeResult[] },
    ...(official === undefined
      ? []
      : [{ name: 'and the official schema', environment: { IATI_STANDARD_DIR: official }, runs: [] as NodeResult[] }]),
  ]
  const folder = await workshop.folder('empty')
  for (let round = 0; round <= (quick ? 1 : 3); round++) {
    for (const { name, environment, runs } of variants) {
      progress(`giving validate, ${name}: ${round === 0 ? 'warm-up' : `round ${round}`}`)
      const options = { environment: { ...environment, GIVING_DATA_DIR: folder }, codes: [0, 1] }
      const result = await runNode(await workshop.program(), ['src/cli.js', 'validate', '--json', file], options)
      const [report] = JSON.parse(result.output) as { records?: number }[]
      if (report?.records !== projects) throw new Error(`${report?.records} of ${projects} activities were checked`)
      if (round > 0) runs.push(result)
    }
  }
  const peak = ({ runs }: { runs: readonly NodeResult[] }) =>
    Math.max(...runs.map(({ peakMiB }) => peakMiB ?? Number.NaN))
  const seconds = ({ runs }: { runs: readonly NodeResult[] }) => runs.map((one) => one.seconds)
  const strictest = variants.at(-1)
  if (!strictest) throw new Error('nothing was measured')
  return {
    tables: [
      {
        title: `${projects} activities, ${(bytes / 1e6).toFixed(0)} MB; median (spread)`,
        columns: ['', 'seconds', 'activities/s', 'peak memory'],
        rows: variants.map((variant) => [
          variant.name,
          spread(seconds(variant)),
          rate(projects, seconds(variant)),
          `${peak(variant).toFixed(0)} MiB`,
        ]),
      },
    ],
    bars: [
      atLeast(
        22,
        `activities a second (${strictest.name}), of 130`,
        projects / median(seconds(strictest)) / publishedPerSecond,
      ),
      atMost(250, `peak memory (${strictest.name})`, (peak(strictest) * 2 ** 20) / 1e6, 'MB'),
    ],
    notes: official === undefined ? ['The official schema is NOT installed: it was not checked.'] : [],
  }
}

/** One file of all stored activities; its size in bytes. */
async function writeActivities(store: Store, file: string): Promise<number> {
  const { head, tail } = iatiEnvelope('iati-activities', isoInstantOf(firstRunAt))
  let bytes = 0
  await store.connection(async (_db, client) => {
    const rows = copyRows(
      client,
      'copy (select text from rendering where text is not null order by project_id) to stdout (format binary)',
    )
    await pipeline(async function* () {
      yield head
      for await (const batch of rows) {
        const text = `${batch.map(([one]) => one?.toString() ?? '').join('\n')}\n`
        bytes += Buffer.byteLength(text)
        yield text
      }
      yield tail
    }, createWriteStream(file))
  })
  return bytes + Buffer.byteLength(head + tail)
}
