import type { Decimal } from '../../../kernel/money.js'
import type { Element } from '../../../kernel/xml/element.js'
import { paidToPartners, toUnits } from '../../../release/read/activity-entry.js'
import { sumLines } from '../charts/bars.js'
import { type Html, html } from '../html.js'
import type { Sums } from '../project-index.js'
import type { ShownProject } from '../read-project.js'
import { children, monthsOf, openingsOf, transactionsOf, valueOfElement } from '../record.js'
import { cellHtml } from '../said.js'
import { sumKinds } from '../sum-kinds.js'
import { codeHtml, dayText, figures, moneyName, moneyText, table, to, type View } from '../view.js'
import { axesOf, legend, moneyStory, monthPoints, monthTable } from './parts.js'

// Transactions that the page lists; the CSV has all.
const shownTransactions = 20
const zero = '0' as Decimal

/** What became of a project's money. */
export function projectMoney({ view, entry }: ShownProject): Html {
  const sums = Object.entries(entry.money).map(([currency, money]) => {
    const told = { ...money, partners: paidToPartners(money), expenditure: money.expenditure ?? zero }
    return [currency, Object.fromEntries(sumKinds.map((kind) => [kind, toUnits(told[kind])])) as Sums] as const
  })
  return moneyStory(view, new Map(sums), { whole: false })
}

/** A project's money by month and transaction. */
export function moneySection(shown: ShownProject): Html {
  const { entry } = shown
  if (Object.keys(entry.money).length === 0) return html``
  return html`<h2>${shown.view.words.project.figures}</h2>
${openingNotes(shown)}${charts(shown)}
${transactionTable(shown)}`
}

function openingNotes({ view, activity }: ShownProject): Html[] {
  return openingsOf(transactionsOf(activity, view.language)).map(
    ({ amount, currency, date }) =>
      html`<p class="kind">${view.words.project.openings(moneyText(view, amount, currency), dayText(view, date))}</p>\n`,
  )
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
    return html`<div class="panel">${legend(view, budget > 0)}${sumLines(points, budget, label, axesOf(view))}
${figures(view, monthTable(view, { [currency]: sums }, { shown: `${words.home.byMonth} (${currency})` }))}</div>\n`
  })
}

/** The newest transactions. */
function transactionTable({ view, entry, activity }: ShownProject): Html {
  const { project, money } = view.words
  const parts = children(activity, 'transaction')
  const listed = transactionsOf(activity, view.language)
    .map((transaction, at) => ({ ...transaction, at }))
    .sort((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : a.at - b.at))
  if (listed.length === 0) return html``
  const rows = listed.slice(0, shownTransactions).map(({ date, type, provider, receiver, description, at }) => {
    const names = [provider, receiver].filter(({ text }) => text !== '')
    const between = names.map((name, place) => html`${place > 0 ? ' → ' : ''}${cellHtml(view, name)}`)
    return html`<tr><th scope="row">${dayText(view, date)}</th><td>${kindHtml(view, type)}</td><td dir="auto">${between}${names.length > 0 && description.text !== '' ? html`<br>` : undefined}${cellHtml(view, description)}</td><td class="number">${amountHtml(view, activity, parts[at])}</td></tr>\n`
  })
  const head = [project.date, project.kind, project.between, money.amount]
  const csv = to(view, 'projects', `${entry.project}.csv`)
  return html`<details><summary>${project.transactions}</summary>${table({ shown: project.transactions }, head, rows, 3)}
${listed.length > rows.length ? html`<p>${view.words.changes.shown(String(rows.length))} <a href="${csv}">${project.transactions} (CSV)</a></p>` : undefined}</details>`
}

const kindsOfTypes = { '1': 'in', '3': 'partners', '4': 'expenditure' } as const

/** The portal's word for a kind of money, else the standard's. */
function kindHtml(view: View, type: string): Html {
  const kind = Object.hasOwn(kindsOfTypes, type) ? kindsOfTypes[type as keyof typeof kindsOfTypes] : undefined
  return kind ? html`${moneyName(view, kind)}` : codeHtml(view, 'TransactionType', type)
}

function amountHtml(view: View, activity: Element, part: Element | undefined): Html {
  const { currency, amount } = valueOfElement(activity, part)
  return html`<data value="${amount}">${moneyText(view, amount, currency)}</data>`
}
