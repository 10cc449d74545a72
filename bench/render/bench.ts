import type { Store } from '../../src/platform/database/store.js'
import type { RenderStage } from '../../src/release/render/stages.js'
import { officialFiles } from '../../test/support/values/borrowed-files.js'
import { type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'
import { type Contender, contest, rate, secondsOf, speedRatio } from '../suite/contest.js'
import { type BenchPublisher, openBenchPublisher, type Rendered } from '../suite/publisher.js'
import { firstRunAt } from '../suite/settings.js'
import { prepareSqlXml, renderBySqlXml } from './sql-xml.js'

/** Rows in PostgreSQL to stored texts, in one process, beside PostgreSQL's own XML functions. */
export const bench: Bench = {
  name: 'render',
  about: "rows in PostgreSQL to stored texts, beside PostgreSQL's own SQL/XML, which checks nothing",
  byDefault: true,
  run,
}

const stageNames: readonly RenderStage[] = ['read', 'map', 'check', 'xsd', 'feeds', 'store']

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? (quick ? 1_500 : 6_000)
  await using database = await workshop.seeded({ projects, size: 'small' })
  const { store } = database
  await prepareSqlXml(store)
  const standardDir = officialFiles()
  const feedsDir = await workshop.folder('render')
  await using withoutChecks = await openBenchPublisher({ store, feedsDir, checks: 'none', standardDir })
  await using withChecks = await openBenchPublisher({ store, feedsDir, checks: 'all', standardDir })
  const contender = (name: string, publisher: BenchPublisher, rendered: Rendered[]): Contender => {
    return {
      name,
      run: async () => {
        await forgetTexts(store)
        const result = await publisher.render(await publisher.begin(firstRunAt, true))
        if (result.rendered !== projects) throw new Error(`${result.rendered} of ${projects} projects were rendered`)
        rendered.push(result)
        return result.seconds
      },
    }
  }
  const [unchecked, checked]: [Rendered[], Rendered[]] = [[], []]
  const measured = await contest(
    [
      contender('ours, checks off', withoutChecks, unchecked),
      contender('ours, checks on', withChecks, checked),
      {
        name: 'PostgreSQL SQL/XML',
        run: async () => {
          await store.db.query('truncate sql_xml_rendering')
          return await secondsOf(() => renderBySqlXml(store))
        },
      },
    ],
    { rounds: quick ? 3 : 5, progress },
  )
  const sqlXml = measured.at(-1)
  const sizes = [await averageBytes(store, 'rendering'), await averageBytes(store, 'sql_xml_rendering')] as const
  return {
    tables: [
      {
        title: `${projects} projects; activities a second, median (spread)`,
        columns: ['', 'activities/s', 'bytes an activity', 'of SQL/XML'],
        rows: measured.map((one) => [
          one.name,
          rate(projects, one.seconds),
          String(one === sqlXml ? sizes[1] : sizes[0]),
          one === sqlXml ? '' : speedRatio(one, sqlXml).toFixed(2),
        ]),
      },
      {
        title: 'Where the time goes: milliseconds of each stage per 1,000 activities, and its share',
        columns: ['', ...stageNames, 'rest'],
        rows: [
          ['checks off', ...shares(unchecked, projects)],
          ['checks on', ...shares(checked, projects)],
        ],
      },
    ],
    bars: [],
    notes: [
      'Limits, no bars: 0.7 of SQL/XML with the checks off, 0.45 with every check. SQL/XML makes one text of a project where ours makes ' +
        'eight and the rows of the tables, and is bound by the database, ours by one core of Node.',
      `SQL/XML is one statement into an ordinary table. Ours also stores hashes, verdicts, money and notices, the API's records ` +
        `in XML and JSON, and the time until which a text holds. The official schema is ${standardDir ? 'asked' : 'NOT there: its check is left out'}.`,
      'Where stages overlap, their shares can add up to more than the whole; the rest is then 0.',
    ],
  }
}

/** Removes everything that was rendered. */
async function forgetTexts({ db }: Store): Promise<void> {
  await db.query('truncate rendering, activity_rows, report_feed, wire_record')
}

async function averageBytes({ db }: Store, table: 'rendering' | 'sql_xml_rendering'): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(`select round(avg(bytes))::integer as bytes from ${table}`)
  return rows[0]?.bytes ?? 0
}

/** Milliseconds per 1,000 activities and share of the total, by stage; medians over the rounds. */
function shares(rounds: readonly Rendered[], projects: number): string[] {
  const whole = median(rounds.map(({ seconds }) => seconds * 1000))
  const stages = stageNames.map((stage) => median(rounds.map((round) => round.stages[stage] ?? 0)))
  const rest = Math.max(0, whole - stages.reduce((sum, ms) => sum + ms, 0))
  return [...stages, rest].map((ms) => `${((ms * 1000) / projects).toFixed(0)} (${((100 * ms) / whole).toFixed(0)}%)`)
}
