import { type ActivityEntry, toAmount } from '../../../release/read/activity-entry.js'
import { isUnscoped, type ListScope, type ProjectIndex, type Sums } from '../project-index.js'
import { ownLanguage } from '../said.js'
import { amountsOf } from '../sum-kinds.js'
import { statusName, toldKinds, type View } from '../view.js'
import { csvLine } from './csv.js'
import { moneyColumn } from './groups.js'
import { type ListQuery, listedProjects } from './projects.js'

// Projects written before other work gets a turn.
const writtenTogether = 200
// Rows of CSV that are kept for the next list: of about 50,000 projects.
const keptCharacters = 16 * 1_048_576

type KeptRows = { readonly rows: string[]; characters: number }
const knownRows = new WeakMap<ProjectIndex, KeptRows>()

const joined = (codes: readonly string[]) => codes.join(';')

/** The columns of a list's CSV that tell no money. */
const factColumns: Readonly<Record<string, (entry: ActivityEntry, view: View) => string | undefined>> = {
  project: ({ project }) => String(project),
  iati_identifier: ({ identifier }) => identifier,
  title: ({ title }) => title,
  title_language: ownLanguage,
  titles: ({ languages }) => languages?.titles && JSON.stringify(languages.titles),
  status: ({ status }) => status,
  status_name: ({ status }, view) => statusName(view, status),
  start: ({ start }) => start,
  end: ({ end }) => end,
  countries: ({ countries }) => joined(countries),
  sectors: ({ sectors }) => joined(sectors),
  themes: ({ themes }) => joined(Object.values(themes)),
  partner_ref: ({ partner }) => partner?.ref,
  partner: ({ partner }) => partner?.name,
  changed: ({ changed }) => changed,
  url: ({ project }, { baseUrl }) => `${baseUrl}/projects/${project}`,
}

/**
 * The projects of a list as CSV (RFC 4180): a row for each project and currency, in the order of the list, with the money that
 * `money_of` says. Each part that is read holds the event loop for a few milliseconds at most.
 */
export async function* projectListCsv(view: View, query: ListQuery): AsyncGenerator<string> {
  const { places, scope } = await listOf(view, query)
  yield csvLine([...Object.keys(factColumns), 'currency', ...toldKinds(view).map(moneyColumn), 'money_of'])
  const kept = knownRows.get(view.projectIndex) ?? { rows: [], characters: 0 }
  knownRows.set(view.projectIndex, kept)
  const moneyOf = isUnscoped(scope) ? undefined : await view.projectIndex.moneyIn(scope)
  const of = scopeText(scope)
  const rows = (place: number) =>
    moneyOf ? rowsOf(view, place, moneyOf(place), of) : (kept.rows[place] ?? keep(kept, view, place))
  for (const part of partsOf(places)) yield part.map(rows).join('')
}

/** What the money of rows is of, in the parameters of the list. */
function scopeText({ countries, themes, sectors, year }: ListScope): string {
  const named = Object.entries({ country: countries, theme: themes, sector: sectors, year })
  const chosen = named.flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`))
  return chosen.length === 0 ? 'whole project' : chosen.join('; ')
}

function keep(kept: KeptRows, view: View, place: number): string {
  const { money: told } = view.projectIndex.entry(place)
  const money = Object.entries(told).map(([currency, sums]) => [currency, amountsOf(sums)] as const)
  const rows = rowsOf(view, place, new Map(money), scopeText({}))
  if (kept.characters > keptCharacters) return rows
  kept.characters += rows.length
  kept.rows[place] = rows
  return rows
}

/** The rows of one project. */
function rowsOf(
  view: View,
  place: number,
  money: ReadonlyMap<string, Readonly<Record<keyof Sums, string | bigint>>>,
  of: string,
): string {
  const entry = view.projectIndex.entry(place)
  const kinds = toldKinds(view)
  const fields = Object.values(factColumns).map((of) => of(entry, view) ?? '')
  if (money.size === 0) return csvLine([...fields, '', ...kinds.map(() => ''), of])
  const rows = [...money].map(([currency, sums]) => {
    const amounts = kinds.map((kind) => sums[kind]).map((sum) => (typeof sum === 'bigint' ? toAmount(sum) : sum))
    return csvLine([...fields, currency, ...amounts, of])
  })
  return rows.join('')
}

/**
 * The same as JSON: the sums of what the list's filters say, and the texts of the index, which are of whole projects and say
 * more for themselves, with the address of each page.
 */
export async function* projectListJson(view: View, query: ListQuery): AsyncGenerator<Buffer> {
  const { places, scope, sums } = await listOf(view, query)
  const told = [...(await sums())].map(([currency, of]) => [
    currency,
    Object.fromEntries(toldKinds(view).map((kind) => [moneyColumn(kind), toAmount(of[kind])])),
  ])
  const head = { release: view.release.id, query, count: places.length, money_of: scopeText(scope) }
  const start = JSON.stringify({ ...head, sums: Object.fromEntries(told) })
  yield Buffer.from(`${start.slice(0, -1)},"projects":[`)
  const address = Buffer.from(JSON.stringify(`${view.baseUrl}/projects/`).slice(0, -1)).toString('latin1')
  let separator = '\n'
  for (const part of partsOf(places)) {
    const texts = part.map(
      (place) => `${view.projectIndex.text(place)},"url":${address}${view.projectIndex.project(place)}"}`,
    )
    yield Buffer.from(`${separator}${texts.join(',\n')}`, 'latin1')
    separator = ',\n'
  }
  yield Buffer.from('\n]}\n')
}

/** All places of a list, in its order, and what its money is of. */
async function listOf(view: View, query: ListQuery) {
  const { projectIndex } = view
  const { found, order, filter } = await listedProjects(view, query)
  return {
    places: await projectIndex.ordered(found, filter, order),
    scope: projectIndex.scopeOf(filter),
    sums: () => projectIndex.sumsOf(found, filter),
  }
}

function* partsOf(places: Uint32Array): Generator<readonly number[]> {
  for (let at = 0; at < places.length; at += writtenTogether) yield [...places.subarray(at, at + writtenTogether)]
}
