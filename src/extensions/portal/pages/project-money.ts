import { type Html, html, joinedHtml } from '../../../http/pages/html.js'
import { dayText, table, to } from '../../../http/pages/page.js'
import { toUnits } from '../../../release/read/activity-entry.js'
import { sumLines } from '../charts/bars.js'
import type { ShownProject } from '../read-project.js'
import { kindsOfTypes, monthsOf, transactionsOf } from '../record.js'
import { cellHtml } from '../said.js'
import { amountsOf, byKind } from '../sum-kinds.js'
import { codeHtml, moneyName, moneyText, type View } from '../view.js'
import { axesOf, moneyStory, monthPanel, monthPoints, monthTable } from './parts.js'

// Transactions that the page lists; the CSV has all.
const shownTransactions = 20

/** What became of a project's money. */
export function projectMoney({ view, entry }: ShownProject): Html {
  const sums = Object.entries(entry.money).map(([currency, money]) => {
    const told = amountsOf(money)
    return [currency, byKind((kind) => toUnits(told[kind]))] as const
  })
  return moneyStory(view, new Map(sums), { whole: false })
}

/** A project's money by month and transaction. */
export function moneySection(shown: ShownProject): Html {
  const { entry } = shown
  if (Object.keys(entry.money).length === 0) return html``
  return html`<h2>${shown.view.words.project.figures}</h2>
${charts(shown)}
${transactionTable(shown)}`
}

function charts({ view, entry, activity }: ShownProject): Html[] {
  const { words } = view
  const months = monthsOf(transactionsOf(activity, view.language))
  const { generated } = view.release.manifest
  // A project that goes on has no end before the release; another's chart lasts to its end.
  const until = entry.status === '2' || (entry.end ?? '') > generated ? generated : (entry.end ?? '')
  return Object.entries(months).map(([currency, sums]) => {
    const budget = Number(entry.money[currency]?.budget ?? 0)
    const label = `${words.project.chart} (${currency})`
    const points = monthPoints(months, currency, true, until.slice(0, 7))
    const exact = monthTable(view, { [currency]: sums }, { shown: `${words.home.byMonth} (${currency})` })
    return html`${monthPanel(view, months, currency, sumLines(points, budget, label, axesOf(view)), exact, budget > 0)}\n`
  })
}

/** The newest transactions. */
function transactionTable({ view, entry, activity }: ShownProject): Html {
  const { project, money } = view.words
  const listed = transactionsOf(activity, view.language).sort((a, b) =>
    a.date < b.date ? 1 : a.date > b.date ? -1 : 0,
  )
  if (listed.length === 0) return html``
  const rows = listed.slice(0, shownTransactions).map(({ date, type, description, currency, amount, ...one }) => {
    const names = [one.provider, one.receiver].filter(({ text }) => text !== '').map((name) => cellHtml(view, name))
    return html`<tr><th scope="row">${dayText(view, date)}</th><td>${kindHtml(view, type)}</td><td dir="auto">${joinedHtml(names, ' → ')}${names.length > 0 && description.text !== '' ? html`<br>` : undefined}${cellHtml(view, description)}</td><td class="number"><data value="${amount}">${moneyText(view, amount, currency)}</data></td></tr>\n`
  })
  const head = [project.date, project.kind, project.between, money.amount]
  const csv = to(view, 'projects', `${entry.project}.csv`)
  return html`<details><summary>${project.transactions}</summary>${table({ shown: project.transactions }, head, rows, 3)}
${listed.length > rows.length ? html`<p>${view.words.changes.shown(String(rows.length))} <a href="${csv}">${project.transactions} (CSV)</a></p>` : undefined}</details>`
}

/** The portal's word for a kind of money, else the standard's. */
function kindHtml(view: View, type: string): Html {
  const kind = kindsOfTypes.get(type)
  return kind ? html`${moneyName(view, kind)}` : codeHtml(view, 'TransactionType', type)
}
