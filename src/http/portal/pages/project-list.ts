import { paidToPartners } from '../../../release/read/activity-entry.js'
import type { ProjectIndex } from '../project-index.js'
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

const zero = '0'
const joined = (codes: readonly string[]) => codes.join(';')

/**
 * The projects of a list as CSV (RFC 4180): a row for each project and currency, in the order of the list. Each part that
 * is read holds the event loop for a few milliseconds at most.
 */
export async function* projectListCsv(view: View, query: ListQuery): AsyncGenerator<string> {
  const places = await placesOf(view, query)
  const kinds = toldKinds(view)
  const facts = ['project', 'iati_identifier', 'title', 'status', 'status_name', 'start', 'end', 'countries', 'sectors']
  yield csvLine([...facts, 'themes', 'partner_ref', 'partner', 'changed', 'url', 'currency', ...kinds.map(moneyColumn)])
  const kept = knownRows.get(view.projectIndex) ?? { rows: [], characters: 0 }
  knownRows.set(view.projectIndex, kept)
  for (const part of partsOf(places)) yield part.map((place) => kept.rows[place] ?? keep(kept, view, place)).join('')
}

function keep(kept: KeptRows, view: View, place: number): string {
  const rows = rowsOf(view, place)
  if (kept.characters > keptCharacters) return rows
  kept.characters += rows.length
  kept.rows[place] = rows
  return rows
}

/** The rows of one project. */
function rowsOf(view: View, place: number): string {
  const entry = view.projectIndex.entry(place)
  const kinds = toldKinds(view)
  const fields = [
    ...[String(entry.project), entry.identifier, entry.title, entry.status, statusName(view, entry.status)],
    ...[entry.start ?? '', entry.end ?? '', joined(entry.countries), joined(entry.sectors)],
    ...[joined(Object.values(entry.themes)), entry.partner?.ref ?? '', entry.partner?.name ?? '', entry.changed],
    `${view.baseUrl}/projects/${entry.project}`,
  ]
  const money = Object.entries(entry.money)
  if (money.length === 0) return csvLine([...fields, '', ...kinds.map(() => '')])
  const rows = money.map(([currency, sums]) => {
    const amounts = { ...sums, partners: paidToPartners(sums), expenditure: sums.expenditure ?? zero }
    return csvLine([...fields, currency, ...kinds.map((kind) => amounts[kind])])
  })
  return rows.join('')
}

/** The same as JSON: the texts of the index, which says more for itself, with the address of each page. */
export async function* projectListJson(view: View, query: ListQuery): AsyncGenerator<Buffer> {
  const places = await placesOf(view, query)
  yield Buffer.from(
    `{"release":${JSON.stringify(view.release.id)},"query":${JSON.stringify(query)},"count":${places.length},"projects":[`,
  )
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

/** All places of a list, in its order. */
async function placesOf(view: View, query: ListQuery): Promise<Uint32Array> {
  const { found, order } = await listedProjects(view, query)
  return await view.projectIndex.ordered(found, order)
}

function* partsOf(places: Uint32Array): Generator<readonly number[]> {
  for (let at = 0; at < places.length; at += writtenTogether) yield [...places.subarray(at, at + writtenTogether)]
}
