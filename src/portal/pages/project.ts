import { projectFeedPath } from '../../feeds/addresses.js'
import type { ActivityEntry } from '../../publishing/release/read/activity-entry.js'
import { readActivity } from '../../publishing/release/read/activity-index.js'
import { codeName } from '../../standard/index.js'
import type { Element } from '../../xml/element.js'
import { parseElement, recordLimits } from '../../xml/reader.js'
import { organisationId } from '../catalogue.js'
import { sumLines } from '../charts/bars.js'
import { type Html, html } from '../html.js'
import { readReports, type ShownReport } from '../read-reports.js'
import { child, children, monthsOf, narrativeText, transactionsOf } from '../record.js'
import {
  countryName,
  cut,
  dayText,
  figures,
  moneyText,
  type PageBody,
  sectorName,
  statusName,
  tile,
  to,
  type View,
} from '../view.js'
import { legend, localAddress, monthPoints, monthTable, tickOf } from './parts.js'

const shownReports = 20

type Shown = {
  readonly view: View
  readonly entry: ActivityEntry
  readonly activity: Element
  readonly reports: readonly ShownReport[]
}

/** `/projects/{id}`: one project, from its published record; undefined when it has none. */
export async function projectPage(view: View, id: string): Promise<PageBody | undefined> {
  const row = /^\d{1,15}$/.test(id) ? view.index.rowOfProject(Number(id)) : undefined
  if (row === undefined) return undefined
  const { words, language } = view
  const entry = view.index.entry(row)
  const activity = parseElement(await readActivity(view.release, view.index, row), recordLimits)
  const reports = await readReports(view.release, projectFeedPath(entry.project))
  const shown = { view, entry, activity, reports }
  const text = (type: string) =>
    narrativeText(
      children(activity, 'description').find(({ attributes }) => attributes.type === type),
      language,
    )
  const summary = text('1')
  return {
    title: cut(entry.title, 120),
    description: cut(summary, 200),
    section: 'projects',
    head: headOf(shown, summary),
    main: html`<p class="path"><a href="${to(view, 'projects')}">${words.nav.projects}</a></p>
<div class="hero"><div><h1 dir="auto">${entry.title}</h1>
<p><span class="badge">${statusName(view, entry.status)}</span>${activity.attributes.humanitarian === '1' ? html`<span class="badge">${words.project.humanitarian}</span>` : undefined}${badges(shown)}</p>
${paragraphs(summary, 'lead')}</div>${heroPicture(shown)}</div>
${moneySection(shown)}
<div class="halves"><div>${textSection(words.project.needs, text('2'))}${textSection(words.project.activities, text('4'))}</div>
<div>${factsSection(shown)}</div></div>
${photoSection(shown)}
${reportSection(shown)}
${documentSection(shown)}
${dataSection(shown)}`,
  }
}

function headOf({ view, entry, reports }: Shown, summary: string): Html {
  const { baseUrl, words, publisherName } = view
  const id = String(entry.project)
  const picture = localAddress(view, entry.picture)
  const linked = {
    '@context': 'https://schema.org',
    '@type': 'Project',
    name: entry.title,
    description: cut(summary, 500),
    identifier: entry.identifier,
    url: `${baseUrl}/projects/${id}`,
    ...(picture && { image: entry.picture }),
    ...(entry.start && { foundingDate: entry.start }),
    ...(entry.partner && { member: { '@type': 'Organization', name: entry.partner.name } }),
    parentOrganization: { '@type': 'Organization', name: publisherName },
    areaServed: entry.countries.map((code) => ({
      '@type': 'Country',
      name: countryName(view, code),
      identifier: code,
    })),
  }
  // Angle brackets as escapes: the text cannot end its element.
  const json = JSON.stringify(linked).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const record = `/iati/activities/${encodeURIComponent(entry.identifier)}`
  const feed =
    reports.length === 0
      ? undefined
      : html`<link rel="alternate" type="application/atom+xml" title="${words.project.reports}" href="${projectFeedPath(entry.project)}">\n`
  return html`<meta property="og:type" content="article">
${picture && html`<meta property="og:image" content="${entry.picture ?? ''}">\n`}<link rel="alternate" type="application/xml" title="IATI" href="${record}.xml">
<link rel="alternate" type="application/json" title="IATI" href="${record}.json">
${feed}<script type="application/ld+json">${{ html: json }}</script>
`
}

function badges({ view, entry }: Shown): Html[] {
  return [
    ...entry.countries.map(
      (code) => html`<a class="badge" href="${to(view, 'countries', code)}">${countryName(view, code)}</a>`,
    ),
    ...Object.entries(entry.themes).map(
      ([code, name]) => html`<a class="badge" href="${to(view, 'themes', code)}" dir="auto">${name}</a>`,
    ),
  ]
}

function heroPicture({ view, entry }: Shown): Html | undefined {
  const picture = localAddress(view, entry.picture)
  return picture === undefined
    ? undefined
    : html`<img src="${picture}" alt="${view.words.project.picture(cut(entry.title, 120))}" width="480" height="320">`
}

function paragraphs(text: string, kind?: string): Html[] {
  const all = text.split('\n').filter((one) => one !== '')
  return all.map((one) => html`<p${kind && html` class="${kind}"`} dir="auto">${one}</p>\n`)
}

function textSection(title: string, text: string): Html {
  return text === '' ? html`` : html`<h2>${title}</h2>${paragraphs(text)}`
}

const paths = {
  budget: 'budget/value',
  in: 'transaction[transaction-type/@code="1"]/value',
  out: 'transaction[transaction-type/@code="3" or "4"]/value',
} as const

function moneySection({ view, entry, activity }: Shown): Html {
  const { words } = view
  const months = monthsOf(transactionsOf(activity, view.language))
  const tiles = Object.entries(entry.money).flatMap(([currency, sums]) =>
    (['budget', 'in', 'out'] as const).map((kind) =>
      tile(
        words.money[kind],
        moneyText(view, sums[kind], currency),
        html`${words.project.element}: <code>${paths[kind]}</code>`,
      ),
    ),
  )
  const charts = Object.keys(months).map((currency) => {
    const budget = Number(entry.money[currency]?.budget ?? 0)
    const label = `${words.project.chart} (${currency})`
    return html`<div class="panel">${legend(view, budget > 0)}${sumLines(monthPoints(months, currency), budget, label, tickOf(view))}
${figures(view, monthTable(view, { [currency]: months[currency] ?? {} }, `${words.home.byMonth} (${currency})`))}</div>`
  })
  if (tiles.length === 0) return html``
  return html`<h2>${words.project.figures}</h2>
<dl class="tiles">${tiles}</dl>
${charts}
<p class="kind">${words.project.figuresNote}</p>`
}

function factsSection({ view, entry, activity }: Shown): Html {
  const { words, language } = view
  const date = (type: string) =>
    children(activity, 'activity-date').find(({ attributes }) => attributes.type === type)?.attributes['iso-date']
  const dated = (actual: string | undefined, planned: string | undefined) =>
    actual ? dayText(view, actual) : planned ? html`${dayText(view, planned)} (${words.project.planned})` : undefined
  const shares = children(activity, 'recipient-country').map(
    ({ attributes }) =>
      html`<a href="${to(view, 'countries', attributes.code ?? '')}">${countryName(view, attributes.code ?? '')}</a>${attributes.percentage ? ` ${attributes.percentage}% ` : ' '}`,
  )
  const location = child(activity, 'location')
  const position = child(child(location, 'point'), 'pos')?.text
  const funders = children(activity, 'participating-org')
    .filter(({ attributes }) => attributes.role === '1')
    .map((one) => narrativeText(one, language))
  const goals = children(activity, 'tag').map(({ attributes }) => {
    const list = attributes.vocabulary === '2' ? 'UNSDG-Goals' : 'UNSDG-Targets'
    return html`<li>${attributes.code} ${codeName(list, attributes.code ?? '')}</li>`
  })
  const facts: (readonly [string, Html | string | undefined])[] = [
    [words.project.status, statusName(view, entry.status)],
    [words.project.start, dated(date('2'), date('1'))],
    [words.project.end, dated(date('4'), date('3'))],
    [words.project.countries, shares.length > 0 ? html`${shares}` : undefined],
    [
      words.project.place,
      location && html`<span dir="auto">${narrativeText(child(location, 'name'), language)}</span> ${position}`,
    ],
    [
      words.project.partner,
      entry.partner &&
        html`<a href="${to(view, 'organisations', organisationId(entry.partner))}" dir="auto">${entry.partner.name}</a>`,
    ],
    [words.project.funders, funders.length > 0 ? funders.join('; ') : undefined],
    [
      words.project.sectors,
      html`${entry.sectors.map((code) => html`<a href="${to(view, 'sectors', code)}">${sectorName(view, code)}</a> `)}`,
    ],
    [words.project.goals, goals.length > 0 ? html`<ul>${goals}</ul>` : undefined],
    [words.project.identifier, html`<code>${entry.identifier}</code>`],
    [words.project.changed, dayText(view, entry.changed)],
  ]
  const rows = facts.flatMap(([name, value]) => (value === undefined ? [] : html`<dt>${name}</dt><dd>${value}</dd>\n`))
  return html`<h2>${words.project.facts}</h2><dl class="facts">
${rows}</dl>`
}

function documentsOf(activity: Element, arePictures: boolean): readonly Element[] {
  return children(activity, 'document-link').filter(
    ({ attributes }) => attributes.format?.startsWith('image/') === arePictures,
  )
}

function photoSection({ view, activity }: Shown): Html {
  const photos = documentsOf(activity, true)
  if (photos.length === 0) return html``
  const items = photos.map((one) => {
    const title = narrativeText(child(one, 'title'), view.language)
    const url = one.attributes.url ?? ''
    const address = localAddress(view, url)
    return address
      ? html`<li><img src="${address}" alt="${title}" loading="lazy" width="384" height="256"></li>\n`
      : html`<li>${outside(view, url, title)}</li>\n`
  })
  return html`<h2>${view.words.project.photos}</h2><ul class="photos">
${items}</ul>`
}

function outside(view: View, url: string, title: string): Html {
  return html`<a href="${safeHref(url)}" rel="external nofollow" dir="auto">${title}</a> <small>(${view.words.project.elsewhere})</small>`
}

function safeHref(url: string): string {
  return /^https?:\/\//i.test(url) ? url : '#'
}

function documentSection({ view, activity }: Shown): Html {
  const items = documentsOf(activity, false).map((one) => {
    const url = one.attributes.url ?? ''
    const title = narrativeText(child(one, 'title'), view.language)
    const address = localAddress(view, url)
    return html`<li>${address ? html`<a href="${address}" dir="auto">${title}</a>` : outside(view, url, title)} <small>${codeName('DocumentCategory', child(one, 'category')?.attributes.code ?? '')}</small></li>\n`
  })
  return items.length === 0
    ? html``
    : html`<h2>${view.words.project.documents}</h2><details open><summary>${items.length}</summary><ul>
${items}</ul></details>`
}

function reportSection({ view, entry, reports }: Shown): Html {
  const { words } = view
  if (reports.length === 0) return html``
  const items = reports.slice(0, shownReports).map((report) => {
    const pictures = report.images.map(({ url }) => {
      const address = localAddress(view, url)
      return address
        ? html`<img src="${address}" alt="${words.project.picture(cut(report.title, 120))}" loading="lazy" width="320" height="213">`
        : html`<p>${outside(view, url, words.project.picture(cut(report.title, 120)))}</p>`
    })
    return html`<article class="report"><h3 dir="auto">${report.title}</h3><p class="kind">${dayText(view, report.published)}${report.author && html` · <span dir="auto">${report.author}</span>`}</p>
<div dir="auto">${{ html: contentOf(view, report) }}</div>${pictures}</article>
`
  })
  return html`<h2 id="reports">${words.project.reports}</h2>
${items}<p><a href="${projectFeedPath(entry.project)}">${words.project.more}</a></p>`
}

/** The safe HTML of a report: headings below the page's own, pictures of other hosts as links. */
function contentOf(view: View, { html: content }: ShownReport): string {
  return content.replace(/<(\/?)h[1-6]\b/g, '<$1h4').replace(/<img\b[^>]*>/g, (tag) => {
    const url = /\bsrc="([^"]*)"/.exec(tag)?.[1] ?? ''
    const address = localAddress(view, url)
    const alt = /\balt="([^"]*)"/.exec(tag)?.[1] ?? ''
    if (address !== undefined) return `<img src="${address}" alt="${alt}" loading="lazy">`
    return url === '' ? '' : `<a href="${url}" rel="external nofollow">${alt || url}</a>`
  })
}

function dataSection({ view, entry }: Shown): Html {
  const record = `/iati/activities/${encodeURIComponent(entry.identifier)}`
  return html`<h2>${view.words.project.data}</h2>
<ul><li><a href="${record}.xml">XML (IATI 2.03)</a></li><li><a href="${record}.json">JSON</a></li>
<li><a href="${to(view, 'projects', `${entry.project}.csv`)}">${view.words.project.csv}</a></li></ul>`
}
