import { html } from '../../../http/pages/html.js'
import { countText, type PageBody, row, table, to, withColon } from '../../../http/pages/page.js'
import { paidToPartners, toAmount } from '../../../release/read/activity-entry.js'
import { currenciesOf, parameters } from '../project-index.js'
import { groupName, spoken } from '../said.js'
import { moneyName, sumText, toldKinds, type View } from '../view.js'
import { csvDocument } from './csv.js'
import type { GroupPageKind } from './group.js'
import { pageOf } from './parts.js'

const pageSize = 80

/** `/countries` and its like: all groups of a kind with their projects and money, those with most projects first. */
export function groupsPage(view: View, kind: GroupPageKind, { page }: { readonly page?: string }): PageBody {
  const { words, projectIndex } = view
  const groups = projectIndex.sharedWith(projectIndex.all, kind)
  const { from, to: end, pager } = pageOf(view, kind, page ? { page } : {}, { size: pageSize, count: groups.length })
  const kinds = toldKinds(view)
  const currencies = currenciesOf(projectIndex.all.sums)
  const rows = groups.slice(from, end).map(({ group, count }) => {
    const cells = currencies.flatMap((currency) => {
      const sums = group.sums.get(currency)
      return kinds.map((one) => {
        const amount = sums && toAmount(sums[one])
        if (amount === undefined || amount === '0') return words.money.none
        return html`<data value="${amount}">${sumText(view, amount, currency, { whole: true })}</data>`
      })
    })
    const name = groupName(view, kind, group)
    const link = html`<a href="${to(view, kind, group.key)}">${name.text}</a>`
    return row(link, [countText(view, count), ...cells], spoken(view, name))
  })
  const money = currencies.flatMap((currency) => kinds.map((one) => `${moneyName(view, one)} (${currency})`))
  const title = words.groups[kind]
  return {
    title,
    description: `${withColon(view, title)} ${countText(view, groups.length)}`,
    section: 'projects',
    main: html`<p class="path"><a href="${to(view, 'projects')}">${words.nav.projects}</a></p><h1>${title}</h1>
<p class="kind">${kind === 'organisations' ? undefined : words.group.split} <a href="/${kind}.csv">CSV</a>${kind === 'organisations' ? undefined : html` <a href="${to(view, 'years')}?by=${parameters[kind]}">${words.years.title}</a>`}</p>
${rows.length === 0 ? html`<p>${words.none}</p>` : table({ shown: title }, [words.groups.name, words.nav.projects, ...money], rows)}
${pager}`,
  }
}

/** The same as CSV (RFC 4180), whole: a row for each group and currency. */
export function groupsCsv(view: View, kind: GroupPageKind): string {
  const { projectIndex } = view
  const kinds = toldKinds(view)
  const rows = projectIndex.sharedWith(projectIndex.all, kind).flatMap(({ group, count }) => {
    const facts = [group.key, groupName(view, kind, group).text, String(count)]
    const currencies = currenciesOf(group.sums)
    if (currencies.length === 0) return [[...facts, '', ...kinds.map(() => '')]]
    return currencies.map((currency) => {
      const sums = group.sums.get(currency)
      return [...facts, currency, ...kinds.map((one) => (sums ? toAmount(sums[one]) : ''))]
    })
  })
  return csvDocument(['code', 'name', 'projects', 'currency', ...kinds.map(moneyColumn)], rows)
}

/** Sums of all transactions by month, oldest first, as CSV. */
export function monthsCsv({ index }: Pick<View, 'index'>): string {
  const rows = Object.entries(index.months).flatMap(([currency, months]) =>
    Object.entries(months).map(([month, sums]) => {
      const expenditure = sums.expenditure ?? '0'
      return [month, currency, sums.in, paidToPartners(sums), expenditure, sums.opening ?? '0']
    }),
  )
  const columns = (['in', 'partners', 'expenditure'] as const).map(moneyColumn)
  // The last one is the part of what was received whose months are not known.
  return csvDocument(['month', 'currency', ...columns, 'received_until_a_day'], rows)
}

/** The name of a kind of money as a column, which is the same in each language. */
export function moneyColumn(kind: ReturnType<typeof toldKinds>[number]): string {
  return { budget: 'budget', in: 'received', partners: 'paid_to_partners', expenditure: 'expenditure' }[kind]
}
