import { type Html, html } from '../../../http/pages/html.js'
import { countText, dayText, withColon } from '../../../http/pages/page.js'
import type { Decimal } from '../../../kernel/money.js'
import type { Element } from '../../../kernel/xml/element.js'
import { isOpening, toAmount, toUnits } from '../../../release/read/activity-entry.js'
import type { ShownProject } from '../read-project.js'
import { child, children, kindsOfTypes, type ShownTransaction, transactionsOf } from '../record.js'
import { saidBy, saidHtml, spoken } from '../said.js'
import { moneyName, moneyText, month } from '../view.js'
import { reportAnchor, reportTitle, shownReports } from './project-documents.js'

// Months that are open to read, and all that the page has.
const openMonths = 5
const mostMonths = 24

/** What happened in a project, month by month, newest first: gifts, payouts, reports and results. */
export function storySection(shown: ShownProject): Html {
  const { view } = shown
  const { project } = view.words
  const months = [...monthsOfStory(shown)].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, mostMonths)
  if (months.length === 0) return html``
  const list = (part: readonly (readonly [string, readonly Html[]])[]) =>
    html`<ol class="story">${part.map(([name, events]) => html`<li><h3>${month(view, name)}</h3><ul>${events}</ul></li>\n`)}</ol>`
  const earlier = months.slice(openMonths)
  return html`<h2 id="story">${project.story}</h2>${list(months.slice(0, openMonths))}
${earlier.length > 0 ? html`<details><summary>${project.earlier(countText(view, earlier.length))}</summary>${list(earlier)}</details>` : undefined}`
}

/** The events of each month: words of people first, then results, then money. */
function monthsOfStory(shown: ShownProject): Map<string, Html[]> {
  const months = new Map<string, Html[]>()
  for (const [day, event] of [...reports(shown), ...results(shown), ...money(shown)]) {
    if (!/^\d{4}-\d\d/.test(day)) continue
    const name = day.slice(0, 7)
    months.set(name, [...(months.get(name) ?? []), html`<li>${event}</li>`])
  }
  return months
}

type Event = readonly [day: string, event: Html]

function reports(shown: ShownProject): Event[] {
  const { view } = shown
  return shown.reports.slice(0, shownReports).map((report, at) => {
    const { published } = report
    const title = reportTitle(shown, report)
    return [
      published,
      html`<a href="#${reportAnchor(at)}"${spoken(view, title)}>${title.text}</a> <small>${dayText(view, published)}</small>`,
    ]
  })
}

/** Values that were reached; what has words alone is a report. */
function results({ view, activity }: ShownProject): Event[] {
  const title = (of: Element) => saidBy(view, activity, child(of, 'title'))
  return children(activity, 'result').flatMap((result) =>
    children(result, 'indicator').flatMap((indicator) =>
      children(indicator, 'period').flatMap((period): Event[] => {
        // Parts by sex, age and the like are no whole.
        const whole = (name: string) => children(period, name).find((one) => !child(one, 'dimension'))?.attributes.value
        const [actual, target] = [whole('actual'), whole('target')]
        const day = child(period, 'period-end')?.attributes['iso-date'] ?? ''
        if (actual === undefined) return []
        const name = title(title(indicator).text === '' ? result : indicator)
        return [[day, html`${saidHtml(view, name, 120)}: <strong>${actual}</strong>${target && ` / ${target}`}`]]
      }),
    ),
  )
}

/** The sums of each month and kind; a total until a day is told as that. */
function money({ view, activity }: ShownProject): Event[] {
  const { words } = view
  const sums = new Map<string, { readonly first: ShownTransaction; units: bigint }>()
  for (const one of transactionsOf(activity, view.language)) {
    const when = isOpening(one.ref) ? one.date : one.date.slice(0, 7)
    const key = [one.type, one.currency, when].join(' ')
    const sum = sums.get(key) ?? { first: one, units: 0n }
    sum.units += toUnits(one.amount)
    sums.set(key, sum)
  }
  return [...sums.values()].flatMap(({ first: { type, ref, date, currency }, units }): Event[] => {
    const kind = kindsOfTypes.get(type)
    if (kind === undefined || units === 0n) return []
    const amount = moneyText(view, toAmount(units) as Decimal, currency)
    const until = isOpening(ref) ? html` (${words.money.until(dayText(view, date))})` : undefined
    return [[date, html`${moneyName(view, kind)}${until}${withColon(view, '')} <strong>${amount}</strong>`]]
  })
}
