import type { Decimal } from '../../../kernel/money.js'
import type { Element } from '../../../kernel/xml/element.js'
import { paidToPartners } from '../../../release/read/activity-entry.js'
import { sumLines } from '../charts/bars.js'
import { type Html, html } from '../html.js'
import type { ShownProject } from '../read-project.js'
import { child, children, monthsOf, openingsOf, transactionsOf, valueOfElement } from '../record.js'
import {
  codeHtml,
  dayText,
  figures,
  moneyName,
  moneyText,
  sumText,
  table,
  tile,
  to,
  toldKinds,
  type View,
} from '../view.js'
import { legend, monthPoints, monthTable, tickOf } from './parts.js'

// Transactions that the page lists; the CSV has all.
const shownTransactions = 40
const zero = '0' as Decimal

/** A project's budget, received and paid-out money, each figure with its element. */
export function moneySection(shown: ShownProject): Html {
  const { view, entry, activity } = shown
  const { words } = view
  const tiles = Object.entries(entry.money).flatMap(([currency, money]) => {
    const sums = { ...money, partners: paidToPartners(money), expenditure: money.expenditure ?? zero }
    return toldKinds(view).map((kind) => tile(moneyName(view, kind), sumText(view, sums[kind], currency)))
  })
  if (tiles.length === 0) return html``
  return html`<h2>${words.project.figures}</h2>
<dl class="tiles">${tiles}</dl>
${openingNotes(shown)}${charts(shown)}
${planTable(view, activity)}
${transactionTable(shown)}`
}

/** The elements that the figures are sums of. */
export function moneySources({
  view,
  entry,
  activity,
}: ShownProject): { readonly name: string; readonly path: string }[] {
  const isRevised = children(activity, 'budget').some(({ attributes }) => attributes.type === '2')
  const paths = {
    budget: `budget[@type="${isRevised ? 2 : 1}"]/value`,
    in: 'transaction[transaction-type/@code="1"]/value',
    partners: 'transaction[transaction-type/@code="3"]/value',
    expenditure: 'transaction[transaction-type/@code="4"]/value',
  } as const
  if (Object.keys(entry.money).length === 0) return []
  return toldKinds(view).map((kind) => ({ name: moneyName(view, kind), path: paths[kind] }))
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
  return Object.entries(months).map(([currency, sums]) => {
    const budget = Number(entry.money[currency]?.budget ?? 0)
    const label = `${words.project.chart} (${currency})`
    return html`<div class="panel"><p class="kind">${label}</p>${legend(view, budget > 0)}${sumLines(monthPoints(months, currency, true), budget, label, tickOf(view))}
${figures(view, monthTable(view, { [currency]: sums }, `${words.home.byMonth} (${currency})`))}</div>\n`
  })
}

/** Budgets and planned payouts by period. */
function planTable(view: View, activity: Element): Html {
  const { project } = view.words
  const rows = [...children(activity, 'budget'), ...children(activity, 'planned-disbursement')].map((one) => {
    const { name, attributes } = one
    const day = (part: string) => dayText(view, child(one, part)?.attributes['iso-date'] ?? '')
    const type = attributes.type ?? ''
    const kind = name === 'budget' ? codeHtml(view, 'BudgetType', type) : html`${project.plannedPayout}`
    const path = name === 'budget' ? `budget[@type="${type}"]/value` : 'planned-disbursement/value'
    return html`<tr><th scope="row">${kind}</th><td>${day('period-start')} – ${day('period-end')}</td><td class="number">${amountHtml(view, activity, one)}</td><td><code>${path}</code></td></tr>\n`
  })
  if (rows.length === 0) return html``
  const head = [project.budgetKind, project.period, view.words.money.amount, project.element]
  return html`<details><summary>${project.plan}</summary>${table(project.plan, head, rows, 4)}</details>`
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
    const between = [provider, receiver].filter((name) => name !== '').join(' → ')
    return html`<tr><th scope="row">${dayText(view, date)}</th><td>${codeHtml(view, 'TransactionType', type)}</td><td dir="auto">${between}${between !== '' && description !== '' ? html`<br>` : undefined}${description}</td><td class="number">${amountHtml(view, activity, parts[at])}</td><td><code>transaction[${at + 1}]</code></td></tr>\n`
  })
  const head = [project.date, project.kind, project.between, money.amount, project.element]
  const csv = to(view, 'projects', `${entry.project}.csv`)
  return html`<details><summary>${project.transactions}</summary>${table(project.transactions, head, rows, 5)}
${listed.length > rows.length ? html`<p>${view.words.changes.shown(String(rows.length))} <a href="${csv}">${project.csv}</a></p>` : undefined}</details>`
}

function amountHtml(view: View, activity: Element, part: Element | undefined): Html {
  const { currency, amount } = valueOfElement(activity, part)
  return html`<data value="${amount}">${moneyText(view, amount, currency)}</data>`
}
