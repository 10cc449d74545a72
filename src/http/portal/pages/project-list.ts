import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ActivityEntry, paidToPartners } from '../../../release/read/activity-entry.js'
import { statusName, toldKinds, type View } from '../view.js'
import { csvLine } from './csv.js'
import { moneyColumn } from './groups.js'
import { type ListQuery, listedPlaces } from './projects.js'

// Projects written before other work gets a turn.
const writtenTogether = 200

const zero = '0'
const joined = (codes: readonly string[]) => codes.join(';')

/** The projects of a list as CSV (RFC 4180): a row for each project and currency, in the order of the list. */
export async function* projectListCsv(view: View, query: ListQuery): AsyncGenerator<string> {
  const { places } = await listedPlaces(view, query)
  const kinds = toldKinds(view)
  const facts = ['project', 'iati_identifier', 'title', 'status', 'status_name', 'start', 'end', 'countries', 'sectors']
  yield csvLine([...facts, 'themes', 'partner_ref', 'partner', 'changed', 'url', 'currency', ...kinds.map(moneyColumn)])
  for await (const entries of entriesOf(view, places)) {
    yield entries.flatMap((entry) => rowsOf(view, entry)).join('')
  }
}

function rowsOf(view: View, entry: ActivityEntry): string[] {
  const kinds = toldKinds(view)
  const fields = [
    ...[String(entry.project), entry.identifier, entry.title, entry.status, statusName(view, entry.status)],
    ...[entry.start ?? '', entry.end ?? '', joined(entry.countries), joined(entry.sectors)],
    ...[joined(Object.values(entry.themes)), entry.partner?.ref ?? '', entry.partner?.name ?? '', entry.changed],
    `${view.baseUrl}/projects/${entry.project}`,
  ]
  const money = Object.entries(entry.money)
  if (money.length === 0) return [csvLine([...fields, '', ...kinds.map(() => '')])]
  return money.map(([currency, sums]) => {
    const amounts = { ...sums, partners: paidToPartners(sums), expenditure: sums.expenditure ?? zero }
    return csvLine([...fields, currency, ...kinds.map((kind) => amounts[kind])])
  })
}

/** The same as JSON: the entries of the index, with the address of each page. */
export async function* projectListJson(view: View, query: ListQuery): AsyncGenerator<string> {
  const { places } = await listedPlaces(view, query)
  yield `{"release":${JSON.stringify(view.release.id)},"query":${JSON.stringify(query)},"count":${places.length},"projects":[`
  let separator = '\n'
  for await (const entries of entriesOf(view, places)) {
    const texts = entries.map(({ offset, length, hash, has, ...entry }) =>
      JSON.stringify({ ...entry, url: `${view.baseUrl}/projects/${entry.project}` }),
    )
    yield `${separator}${texts.join(',\n')}`
    separator = ',\n'
  }
  yield '\n]}\n'
}

async function* entriesOf({ projectIndex }: View, places: readonly number[]): AsyncGenerator<ActivityEntry[]> {
  for (let at = 0; at < places.length; at += writtenTogether) {
    yield places.slice(at, at + writtenTogether).map((place) => projectIndex.entry(place))
    await nextTurn()
  }
}
