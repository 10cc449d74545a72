import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { randomFrom } from '../../test/support/values/random.js'
import { atLeast, atMost, type Bench, type BenchResult, type BenchSetting } from '../suite/bench.js'
import { runNode } from '../suite/child.js'
import { currency } from '../suite/settings.js'

/** `giving import` of single gifts as a user runs it, in a process of its own, its start included; then the same again, and the same gifts as an office's program writes them, by a recipe. */
export const bench: Bench = {
  name: 'gifts',
  about: "giving import of a million single gifts, of the same file again, and of an office's file by a recipe",
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
  const program = await workshop.program()
  const importing = async (expected: 'created' | 'unchanged', args: readonly string[], url: string) => {
    progress(`giving import: ${gifts} gifts, ${expected}`)
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: folder, DEFAULT_CURRENCY: currency }
    const result = await runNode(program, ['src/cli.js', 'import', ...args, '--json'], { environment })
    const summary = JSON.parse(result.output) as Readonly<Record<string, number>>
    if (summary[expected] !== gifts) throw new Error(`${summary[expected]} of ${gifts} gifts are ${expected}`)
    return { ...result, peakMB: ((result.peakMiB ?? Number.NaN) * 2 ** 20) / 1e6 }
  }
  const first = await importing('created', [file], database.url)
  const again = await importing('unchanged', [file], database.url)
  const ofOffice = path.join(folder, 'spenden.csv')
  await pipeline(officeCsvOf(csvOf(gifts, projects)), createWriteStream(ofOffice))
  const recipe = path.join(folder, 'recipe.json')
  await writeFile(recipe, JSON.stringify(officeRecipe))
  await using empty = await workshop.seeded({ projects, size: 'small', once: true })
  const byRecipe = await importing('created', [ofOffice, '--recipe', recipe], empty.url)
  return {
    tables: [
      {
        title: `${gifts} gifts to ${projects} projects, by day`,
        columns: ['', 'seconds', 'gifts/s', 'peak memory'],
        rows: Object.entries({ new: first, again, 'by a recipe': byRecipe }).map(([name, { seconds, peakMB }]) => [
          ...[name, seconds.toFixed(1), (gifts / seconds).toFixed(0), `${peakMB.toFixed(0)} MB`],
        ]),
      },
    ],
    bars: [
      atLeast(5_000, 'new gifts', gifts / first.seconds, 'a second'),
      atMost(0.2, 'the same file again', again.seconds / first.seconds),
      atLeast(0.8, 'by a recipe, of the rate without', first.seconds / byRecipe.seconds),
      atMost(256, 'peak memory', Math.max(first.peakMB, again.peakMB, byRecipe.peakMB), 'MB'),
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

/** How the file of an office is read: other names, values, notation, merged cells, rows that are left out. */
const officeRecipe = {
  kind: 'gifts',
  map: {
    Projekt: 'project',
    Tag: 'date',
    Betrag: 'amount',
    Währung: 'currency',
    Beleg: 'reference',
    Art: 'kind',
    Status: '',
  },
  values: { Art: { Spende: 'gift' } },
  only: { Status: ['Abgeschlossen'] },
  without: { Projekt: ['Gesamt'] },
  fillDown: ['Projekt'],
  decimal: 'comma',
  date: 'dd.mm.yyyy',
}

/** The same gifts as an office's program writes them. */
function* officeCsvOf(rows: Iterable<string>): Generator<string> {
  yield 'Projekt;Tag;Betrag;Währung;Beleg;Art;Status\r\n'
  let at = 0
  for (const row of rows) {
    if (at++ === 0) continue
    const [project, date = '', amount = '', code, reference] = row.trim().split(',')
    const day = date.split('-').reverse().join('.')
    const number = amount.replace('.', ',').replace(/\B(?=(\d{3})+,)/, '.')
    yield `${project};${day};${number};${code};${reference};Spende;Abgeschlossen\r\n`
    if (at % 100 === 0) yield 'Gesamt;;1.000,00;;;;\r\n'
  }
}
