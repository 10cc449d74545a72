import { type Html, html } from '../../../http/pages/html.js'
import { type PageBody, row, table, to, withColon } from '../../../http/pages/page.js'
import { toAmount } from '../../../release/read/activity-entry.js'
import { currenciesOf, parameters } from '../project-index.js'
import { groupName, type Said, spoken } from '../said.js'
import { type SplitKind, splitKinds } from '../sum-kinds.js'
import { moneyName, sumText, type View } from '../view.js'
import { noGroup, untilADay } from '../year-sums.js'
import { csvDocument } from './csv.js'
import { pageOf, queryText } from './parts.js'
import { citation, figureChoices, figureKinds, selectField } from './projects.js'

/** Parameters of `/years`, in the order of its addresses. */
export const yearsParameters = ['by', 'figure', 'currency', 'last', 'page'] as const
export type YearsQuery = { readonly [Name in (typeof yearsParameters)[number]]?: string }

// What fits on a page of 60 KB.
const pageSize = 25
const shownYears = 8
const dash = '–'

type Chosen = { readonly of: SplitKind; readonly figure: keyof typeof figureKinds; readonly currency: string }
type Sums = ReadonlyMap<string, bigint>
type Row = { readonly key: string; readonly name: Said; readonly sums: Sums; readonly total: bigint }
type CrossTable = Chosen & { readonly years: readonly string[]; readonly rows: readonly Row[]; readonly all: Row }

/** `/years`: money of one kind by country, sector or theme and by year; each figure leads to its projects. */
export async function yearsPage(view: View, query: YearsQuery): Promise<PageBody> {
  const { words } = view
  const cross = await crossTable(view, query)
  const { figure, currency, rows } = cross
  const { from, to: end, whole, pager } = pageOf(view, 'years', query, { size: pageSize, count: rows.length })
  const { columns, others } = columnsOf(view, cross, query.last)
  const title = `${withColon(view, words.years.title)} ${moneyName(view, figureKinds[figure])}`
  const links = others.map(
    ({ name, last }) => html`<a class="badge" href="${to(view, 'years')}${queryText({ ...whole, last })}">${name}</a>`,
  )
  return {
    title,
    description: `${title}. ${words.years.intro}`,
    section: 'projects',
    isUnlisted: Object.keys(query).some((name) => name !== 'by'),
    main: html`<p class="path"><a href="${to(view, 'projects')}">${words.nav.projects}</a></p><h1>${title}</h1>
<p class="lead">${words.years.intro}</p>
${form(view, cross)}
${
  rows.length === 0
    ? html`<p role="status">${words.years.nothing}</p>`
    : html`<p class="kind">${words.list.download} <a href="/years.csv${queryText(whole)}" rel="nofollow">CSV</a>, <a href="/years.json${queryText(whole)}" rel="nofollow">JSON</a></p>
${table(
  { shown: `${title} (${currency})` },
  [words.groups[cross.of], ...columns.map(({ name }) => name)],
  rows.slice(from, end).map((row) => rowOf(view, cross, columns, row)),
  1,
  html`<tfoot>${rowOf(view, cross, columns, cross.all)}</tfoot>`,
)}
${others.length > 0 ? html`<p>${links}</p>` : undefined}
<p class="kind">${withColon(view, dash)} ${words.money.none}. ${figure === 'budget' ? words.years.budgets : undefined} ${words.group.split}</p>
${citation(view, title, `${to(view, 'years')}${queryText(query)}`)}
${pager}`
}`,
  }
}

/** The same as CSV (RFC 4180), whole: all rows and years. What is not reported is empty. */
export async function yearsCsv(view: View, query: YearsQuery): Promise<string> {
  const { years, rows, currency } = await crossTable(view, query)
  const amounts = ({ sums, total }: Row) => [...years.map((year) => sums.get(year) ?? 0n), total].map(amountText)
  return csvDocument(
    ['code', 'name', 'currency', ...years.map(columnName), 'total'],
    rows.map((row) => [row.key, row.name.text, currency, ...amounts(row)]),
  )
}

/** The same as JSON, with the sums of all rows. */
export async function yearsJson(view: View, query: YearsQuery): Promise<string> {
  const { of, figure, currency, years, rows, all } = await crossTable(view, query)
  const told = ({ sums, total }: Row) => ({
    sums: Object.fromEntries([...sums].map(([year, units]) => [columnName(year), toAmount(units)])),
    total: toAmount(total),
  })
  return `${JSON.stringify({
    ...{ release: view.release.id, by: parameters[of], figure, currency, columns: years.map(columnName) },
    rows: rows.map((row) => ({ code: row.key, name: row.name.text, ...told(row) })),
    all: told(all),
  })}\n`
}

async function crossTable(view: View, query: YearsQuery): Promise<CrossTable> {
  const { words, index, projectIndex } = view
  const chosen = chosenBy(view, query)
  const { of, figure, currency } = chosen
  const sums = await projectIndex.yearSums()
  const { years, all, groups } = index.tellsYears
    ? sums.table(of, figureKinds[figure], currency)
    : { years: [], all: new Map(), groups: new Map<string, Sums>() }
  const own = (text: string): Said => ({ text, language: view.language })
  const nameOf = (key: string) => (key === noGroup ? own(words.money.none) : groupName(view, of, key))
  const rowFrom = (key: string, name: Said, of: Sums): Row => ({
    ...{ key, name, sums: of, total: [...of.values()].reduce((sum, units) => sum + units, 0n) },
  })
  const rows = [...groups]
    .map(([key, sums]) => rowFrom(key, nameOf(key), sums))
    .sort((a, b) => (a.total === b.total ? (a.key < b.key ? -1 : 1) : a.total > b.total ? -1 : 1))
  return { ...chosen, years, rows, all: rowFrom(noGroup, own(words.years.total), all) }
}

/** What an address chooses; where it names nothing that is there, the first. */
function chosenBy(view: View, query: YearsQuery): Chosen {
  const currencies = currenciesOf(view.projectIndex.all.sums)
  return {
    of: splitKinds.find((kind) => parameters[kind] === query.by) ?? 'countries',
    figure: figureChoices(view).find(({ key }) => key === query.figure)?.key ?? 'received',
    currency: currencies.find((one) => one === query.currency) ?? currencies[0] ?? '',
  }
}

function form(view: View, { of, figure, currency }: Chosen): Html {
  const { words, projectIndex } = view
  const by = splitKinds.map((kind) => ({ key: parameters[kind], text: words.groups[kind] }))
  const currencies = currenciesOf(projectIndex.all.sums).map((key) => ({ key, text: key }))
  return html`<form class="filters panel" action="${to(view, 'years')}">
${selectField(view, 'by', words.years.by, parameters[of], by, false)}
${selectField(view, 'figure', words.years.figure, figure, figureChoices(view), false)}
${currencies.length > 1 ? selectField(view, 'currency', words.years.currency, currency, currencies, false) : undefined}
<div><button>${words.list.show}</button></div></form>`
}

/** Years with one sum; of those before and after the ones that are shown, the year that a page of them ends with. */
type Column = { readonly name: string; readonly years: readonly string[]; readonly last?: string | undefined }

/** Some years that follow each other, with the sums of those before and after. */
function columnsOf(view: View, { years, figure }: CrossTable, wanted: string | undefined) {
  const { words, release } = view
  const told = years.filter((year) => year !== untilADay)
  // Budgets reach into the future.
  const now = figure === 'budget' ? String(Number(release.manifest.generated.slice(0, 4)) + 1) : undefined
  const last = /^\d{4}$/.test(wanted ?? '') ? wanted : now
  const end = Math.max(1, last === undefined ? told.length : told.filter((year) => year <= last).length)
  const start = Math.max(0, end - shownYears)
  const [before, shown, after] = [told.slice(0, start), told.slice(start, end), told.slice(end)]
  const columnOf = (name: string, of: readonly string[], last?: string): Column[] =>
    of.length > 0 ? [{ name, years: of, last }] : []
  const earlier = columnOf(words.years.before(shown[0] ?? ''), before, before.at(-1))
  const later = columnOf(words.years.after(shown.at(-1) ?? ''), after, after.slice(0, shownYears).at(-1))
  // A phone shows the first few.
  const columns: Column[] = [
    { name: words.years.total, years },
    ...later,
    ...shown.toReversed().map((year) => ({ name: year, years: [year] })),
    ...earlier,
    ...(years.includes(untilADay) ? [{ name: words.years.until, years: [untilADay] }] : []),
  ]
  return { columns, others: [...earlier, ...later] }
}

function rowOf(view: View, cross: CrossTable, columns: readonly Column[], line: Row): Html {
  const { of, figure, currency, all } = cross
  const isGroup = line !== all && line.key !== noGroup
  const cells = columns.map(({ years }) => {
    const units = years.reduce((sum, year) => sum + (line.sums.get(year) ?? 0n), 0n)
    if (units === 0n) return html`<data value="0">${dash}</data>`
    const amount = toAmount(units)
    const shown = html`<data value="${amount}">${sumText(view, amount, currency, { whole: true })}</data>`
    const [year] = years
    const leads = years.length === 1 && year !== untilADay && (isGroup || line === all)
    const query = { ...(isGroup && { [parameters[of]]: line.key }), year, figure }
    return leads ? html`<a href="${to(view, 'projects')}${queryText(query)}">${shown}</a>` : shown
  })
  const name = isGroup ? html`<a href="${to(view, of, line.key)}">${line.name.text}</a>` : line.name.text
  return row(name, cells, spoken(view, line.name))
}

function columnName(year: string): string {
  return year === untilADay ? 'until_a_day' : year
}

function amountText(units: bigint): string {
  return units === 0n ? '' : toAmount(units)
}
