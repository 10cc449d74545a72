import { type Html, html, joinedHtml } from '../../../http/pages/html.js'
import { type Caption, countText, numberFormat, row, table, to, withColon } from '../../../http/pages/page.js'
import type { Decimal } from '../../../kernel/money.js'
import {
  type ActivityEntry,
  type Months,
  paidToPartners,
  toAmount,
  toUnits,
} from '../../../release/read/activity-entry.js'
import { type Axes, type MonthPoint, meter } from '../charts/bars.js'
import { currenciesOf, type GroupKind, type Sums } from '../project-index.js'
import { cellHtml, partnerOf, type Said, spoken, themesOf, titleOf } from '../said.js'
import type { SumKind } from '../sum-kinds.js'
import { bitOf, type SearchedField, type Term } from '../text-index.js'
import {
  countryName,
  figures,
  moneyName,
  moneyText,
  month,
  percent,
  sectorName,
  statusName,
  sumText,
  toldKinds,
  type View,
} from '../view.js'

const zero = '0' as Decimal

/** Parts that several pages have. */

/** A project in a list, with its picture when this service serves it. */
function projectCard(
  view: View,
  entry: ActivityEntry,
  level: 'h2' | 'h3',
  reasons: readonly Html[],
  picture: string | undefined,
): Html {
  const places = entry.countries.map((code) => countryName(view, code)).join(', ')
  const sums = Object.entries(entry.money).map(
    ([currency, sum]) =>
      html`<p>${view.words.money.in} <strong>${sumText(view, sum.in, currency, { whole: true })}</strong>${sum.budget === '0' ? undefined : html` / ${moneyText(view, sum.budget, currency, { whole: true })}${meter(Number(sum.in), Number(sum.budget))}`}</p>`,
  )
  const [[theme, named] = ['', undefined]] = themesOf(view, entry)
  const [title, partner] = [titleOf(view, entry), partnerOf(view, entry)]
  const image = picture
    ? html`<img src="${picture}" alt="" loading="lazy" width="480" height="320">`
    : html`<span class="blank" aria-hidden="true">${named && cellHtml(view, named)}</span>`
  const link = html`<a href="${to(view, 'projects', String(entry.project))}">${title.text}</a>`
  const heading = { html: `<${level}${spoken(view, title).html}>${link.html}</${level}>` }
  return html`<li class="card hue${hueOf(theme)}">${image}<div>${heading}
<p><span class="badge">${statusName(view, entry.status)}</span>${places}</p>${entry.partner && html`<p${spoken(view, partner)}>${partner.text}</p>`}${sums}${reasons.length > 0 ? html`<p class="kind">${view.words.list.foundIn} <span dir="auto">${joinedHtml(reasons, ', ')}</span></p>` : undefined}</div></li>
`
}

// Colours of the stylesheet for what has no picture.
const hues = 8

function hueOf(code: string): number {
  return [...code].reduce((sum, sign) => sum + (sign.codePointAt(0) ?? 0), 0) % hues
}

/** What was looked for, and the bits of the fields of a project in which it was found. */
export type Reason = { readonly terms: readonly Term[]; readonly fieldsOf: (place: number) => number }

/** Where a project has what was looked for: its partner and groups by name. */
function reasonsOf(view: View, entry: ActivityEntry, { terms }: Reason, fields: number): Html[] {
  const { foundInParts } = view.words.list
  const isIn = (field: SearchedField) => (fields & bitOf(field)) !== 0
  const own = (text: string): Said => ({ text, language: view.language })
  const themes = new Map(themesOf(view, entry))
  const named = (kind: GroupKind, keys: readonly string[], name: (key: string) => Said) =>
    keys.filter((key) => view.projectIndex.isNamed(kind, key, terms)).map(name)
  const groups = () => [
    ...named('countries', entry.countries, (code) => own(countryName(view, code))),
    ...named('themes', [...themes.keys()], (id) => themes.get(id) ?? own(id)),
    ...named('sectors', entry.sectors, (code) => own(sectorName(view, code))),
  ]
  return [
    ...(isIn('title') ? [own(foundInParts.title)] : []),
    ...(isIn('partner') ? [partnerOf(view, entry)] : []),
    ...(isIn('group') ? groups() : []),
    ...(isIn('place') ? [own(foundInParts.place)] : []),
    ...(isIn('text') ? [own(foundInParts.text)] : []),
  ].map((one) => cellHtml(view, one))
}

/** Projects of a list; of those that were searched for by words, where the words are. */
export function projectCards(
  view: View,
  places: readonly number[],
  level: 'h2' | 'h3' = 'h3',
  reason: Reason | undefined = undefined,
): Html {
  let before: string | undefined
  const cards = places.map((place) => {
    const entry = view.projectIndex.entry(place)
    const picture = localAddress(view, entry.picture)
    // The same picture twice, side by side, says nothing of either project.
    const shown = picture === before ? undefined : picture
    before = shown
    return projectCard(view, entry, level, reason ? reasonsOf(view, entry, reason, reason.fieldsOf(place)) : [], shown)
  })
  return html`<ul class="cards">
${cards}</ul>`
}

/** The picture that is shown where the address of a page is shared: the record's, else the operator's logo. */
export function pictureLink({ baseUrl, brand }: View, picture?: string | undefined): Html {
  const logo = brand.logo && `${baseUrl}${brand.logo.address}`
  const shown = picture && /^https?:\/\//i.test(picture) ? picture : logo
  return shown ? html`<meta property="og:image" content="${shown}">\n` : html``
}

/** The path of an address of this service; undefined for other hosts, from which pages load nothing. */
export function localAddress({ baseUrl }: View, url: string | undefined): string | undefined {
  return url?.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : undefined
}

/** What became of the money that came in: of each currency a sentence, a bar with its parts, and the budget. */
export function moneyStory(view: View, sums: ReadonlyMap<string, Sums>, { whole = true } = {}): Html {
  const { money } = view.words
  const stories = currenciesOf(sums).map((currency) => {
    const of = sums.get(currency) as Sums
    const text = (amount: Decimal) => sumText(view, amount, currency, { whole })
    const told = (kind: SumKind) =>
      html`${withColon(view, moneyName(view, kind))} <strong>${text(toAmount(of[kind]))}</strong>`
    const own = view.index.tellsExpenditure ? of.expenditure : 0n
    const left = of.in - of.partners - own
    const isWhole = view.index.tellsExpenditure && of.in > 0n && of.partners >= 0n && own >= 0n && left >= 0n
    if (!isWhole)
      return html`<ul class="legend plain">${toldKinds(view).map((kind) => html`<li>${told(kind)}</li>`)}</ul>\n`
    const share = (part: bigint) => (100 * Number(part)) / Number(of.in)
    const [partners, expenditure] = [share(of.partners), share(own)]
    const received = text(toAmount(of.in))
    const sentence =
      of.partners === 0n
        ? money.unspent(received)
        : money.spent(received, text(toAmount(of.partners)), percent(view, Number(of.partners), Number(of.in)))
    return html`<p class="sentence">${sentence}</p>
<svg class="stack" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="out" width="${partners.toFixed(2)}" height="6"/><rect class="own" x="${partners.toFixed(2)}" width="${expenditure.toFixed(2)}" height="6"/></svg>
<ul class="legend"><li class="out">${told('partners')}</li>${own > 0n ? html`<li class="own">${told('expenditure')}</li>` : undefined}${left > 0n ? html`<li class="left">${withColon(view, money.left)} <strong>${text(toAmount(left))}</strong></li>` : undefined}${of.budget === 0n ? undefined : html`<li class="goal">${told('budget')}</li>`}</ul>
`
  })
  return html`<div class="money">${stories}</div>`
}

/** What was received in a month, without totals until a day, whose months are not known. */
function receivedIn({ in: received, opening = zero }: Months[string][string]): Decimal {
  return toAmount(toUnits(received) - toUnits(opening))
}

/** The months of a currency from the first to the last, at least to `until`, months without money included. */
export function monthPoints(months: Months, currency: string, withOpenings = false, until = ''): MonthPoint[] {
  const received = (sums: Months[string][string]) => (withOpenings ? sums.in : receivedIn(sums))
  const known = Object.entries(months[currency] ?? {})
    .flatMap(([name, sums]) => (received(sums) === zero && sums.out === zero ? [] : name))
    .sort()
  const [first, newest] = [known[0], known.at(-1)]
  if (first === undefined || newest === undefined) return []
  const end = until > newest ? until : newest
  const all: MonthPoint[] = []
  for (let name = first; name <= end; name = monthAfter(name)) {
    const sums = months[currency]?.[name]
    all.push({
      month: name,
      in: sums ? Number(received(sums)) : 0,
      out: sums ? Number(paidToPartners(sums)) : 0,
    })
  }
  return all
}

function monthAfter(name: string): string {
  const [year = 0, number = 0] = name.split('-').map(Number)
  return number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, '0')}`
}

/** The exact figures of months, newest first. */
export function monthTable(view: View, months: Months, caption: Caption, last = Number.POSITIVE_INFINITY): Html {
  const { words, index } = view
  const rows = Object.entries(months).flatMap(([currency, sums]) =>
    Object.entries(sums)
      .sort(([a], [b]) => (a < b ? 1 : -1))
      .slice(0, last)
      .map(([name, sum]) => {
        const { opening = zero } = sum
        const amounts = [
          receivedIn(sum),
          paidToPartners(sum),
          ...(index.tellsExpenditure ? [sum.expenditure ?? zero] : []),
        ]
        const text = (amount: Decimal) => sumText(view, amount, currency)
        const until = () =>
          row(words.money.until(month(view, name)), [text(opening), ...amounts.slice(1).map(() => undefined)])
        return html`${amounts.every((one) => one === zero) ? undefined : row(month(view, name), amounts.map(text))}${opening === zero ? undefined : until()}`
      }),
  )
  const kinds = toldKinds(view).filter((kind) => kind !== 'budget')
  return table(caption, [words.money.month, ...kinds.map((kind) => moneyName(view, kind))], rows)
}

/** A chart of months with its colours in words, what no month has, and the exact figures. */
export function monthPanel(
  view: View,
  months: Months,
  currency: string,
  chart: Html,
  exact: Html,
  hasGoal = false,
): Html {
  const units = Object.values(months[currency] ?? {}).reduce((sum, { opening = zero }) => sum + toUnits(opening), 0n)
  const { money: names, project } = view.words
  return html`<div class="panel">${chart.html && html`<ul class="legend"><li>${names.in}</li><li class="out">${moneyName(view, 'partners')}</li>${hasGoal ? html`<li class="goal">${names.budget}</li>` : undefined}</ul>${chart}\n`}${units > 0n ? html`<p class="kind">${project.openings(moneyText(view, toAmount(units), currency))}</p>` : undefined}${figures(view, exact)}</div>`
}

/** Large numbers of an axis in few characters, and names of months. */
export function axesOf(view: View): Axes {
  const format = numberFormat(view.language, { notation: 'compact' })
  return { amount: (value) => format.format(value), month: (name) => month(view, name) }
}

/** The page of a list that a query names, as the part from one place to another, and links to the pages before and after. */
export function pageOf<Query extends { readonly page?: string }>(
  view: View,
  address: string,
  { page: wanted, ...query }: Query,
  { size, count }: { readonly size: number; readonly count: number },
) {
  const { list } = view.words
  const pages = Math.max(1, Math.ceil(count / size))
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(wanted) || 1)))
  const link = (target: number, text: string, rel: string) =>
    html`<li><a href="${to(view, address)}${queryText({ ...query, page: String(target) })}" rel="${rel}">${text}</a></li>\n`
  const pager = html`<nav class="pager" aria-label="${list.pages}"><ul>
${page > 1 ? link(page - 1, list.previous, 'prev') : undefined}<li>${countText(view, page)} / ${countText(view, pages)}</li>
${page < pages ? link(page + 1, list.next, 'next') : undefined}</ul></nav>`
  return { from: (page - 1) * size, to: page * size, whole: query, pager: pages === 1 ? undefined : pager }
}

/** The query of an address with the parameters that have a value; empty when none has. */
export function queryText(query: Readonly<Record<string, string | undefined>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  return search.size === 0 ? '' : `?${search}`
}
