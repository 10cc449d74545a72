import { policySection, themeNote } from '../../../http/pages/developers.js'
import { type Html, html } from '../../../http/pages/html.js'
import { countText, cut, dayText, type PageBody, row, table, to, withColon } from '../../../http/pages/page.js'
import { feedListPath, reportsFeedPath } from '../../../iati/addresses.js'
import { monthBars } from '../charts/bars.js'
import { currenciesOf, type GroupKind, type Share } from '../project-index.js'
import { readReports, type ShownReport } from '../read-reports.js'
import { groupName, spoken } from '../said.js'
import { countryName, figures, type View } from '../view.js'
import { countryMap, groupBars } from './group.js'
import {
  axesOf,
  localAddress,
  moneyStory,
  monthPanel,
  monthPoints,
  monthTable,
  pictureLink,
  projectCards,
} from './parts.js'
import { searchForm } from './projects.js'

const shownMonths = 12
const shownGroups = 8
const shownProjects = 6
const searchedForPictures = 24
const shownReports = 5

/** `/`: what this publisher does. */
export async function homePage(view: View): Promise<PageBody> {
  const { words, projectIndex, publisherName, release } = view
  const { countries, organisations } = projectIndex.groups
  const reports = await readReports(release, reportsFeedPath)
  const title = `${withColon(view, publisherName)} ${words.openData}`
  const intro = words.home.intro(publisherName)
  const counted = (page: string, name: string, count: number) =>
    html`<a href="${to(view, page)}">${withColon(view, name)} ${countText(view, count)}</a>`
  return {
    title,
    description: intro,
    head: html`${pictureLink(view)}<link rel="alternate" type="application/atom+xml" title="${words.project.reports}" href="${reportsFeedPath}">
<link rel="alternate" type="application/xml" title="IATI" href="/iati/activities.xml">
<link rel="alternate" type="application/atom+xml" title="${words.nav.changes}" href="/changes.atom">
<link rel="alternate" type="text/x-opml" title="${words.project.reports}" href="${feedListPath}">\n`,
    main: html`<div class="hero"><div><h1 dir="auto">${publisherName}</h1>
<p class="lead">${intro}</p>
${searchForm(view)}${chips(view)}</div>${picture(view)}</div>
<div class="panel">${moneyStory(view, projectIndex.all.sums)}
<p class="kind">${counted('projects', words.nav.projects, projectIndex.all.places.length)} · ${counted('countries', words.groups.countries, countries.size)} · ${counted('organisations', words.groups.organisations, organisations.size)} · ${words.home.published} ${dayText(view, release.manifest.generated)}</p></div>
<h2>${words.home.newest}</h2>
${projectCards(view, projectIndex.all.places.slice(0, shownProjects))}
<p><a href="${to(view, 'projects')}">${words.nav.projects}</a></p>
${whereSection(view)}
${monthSection(view)}
<div class="halves">${groupSection(view, 'sectors')}
${groupSection(view, 'themes')}</div>
${reportSection(view, reports)}
${policySection(view)}`,
  }
}

/** A picture of a project that no card below shows, else of one that does, if this service serves it; decoration. */
function picture(view: View): Html | undefined {
  const newest = view.projectIndex.all.places.slice(0, searchedForPictures)
  const others = [...newest.slice(shownProjects), ...newest.slice(0, shownProjects)]
  const address = others.flatMap((place) => localAddress(view, view.projectIndex.entry(place).picture) ?? [])[0]
  return address === undefined ? undefined : html`<img src="${address}" alt="" width="480" height="320">`
}

/** The largest countries and themes, as searches that need no word. */
function chips(view: View): Html {
  const links = (kind: 'countries' | 'themes') =>
    largest(view, kind)
      .slice(0, 2)
      .map(({ group }) => {
        const name = groupName(view, kind, group)
        return html`<li><a class="badge" href="${to(view, kind, group.key)}"${spoken(view, name)}>${name.text}</a></li>\n`
      })
  return html`<ul class="chips">${links('themes')}${links('countries')}</ul>`
}

function largest({ projectIndex }: View, kind: GroupKind): Share[] {
  return projectIndex.sharedWith(projectIndex.all, kind)
}

function whereSection(view: View): Html {
  const { group, groups, nav } = view.words
  const countries = largest(view, 'countries')
  const rows = countries.map(({ group: { key }, count }) =>
    row(html`<a href="${to(view, 'countries', key)}">${countryName(view, key)}</a>`, [countText(view, count)]),
  )
  return html`<h2><a href="${to(view, 'countries')}">${groups.countries}</a></h2>
<div class="panel">${countryMap(view, countries)}
${figures(view, table({ shown: groups.countries }, [group.country, nav.projects], rows))}</div>`
}

function monthSection(view: View): Html {
  const { words, index, projectIndex } = view
  const [currency] = currenciesOf(projectIndex.all.sums)
  if (currency === undefined) return html``
  const points = monthPoints(index.months, currency, false, view.release.manifest.generated.slice(0, 7))
  const title = `${words.home.byMonth} (${currency})`
  const table = monthTable(view, index.months, { shown: words.home.byMonth }, shownMonths)
  return html`<h2>${title}</h2>
${monthPanel(view, index.months, currency, monthBars(points.slice(-shownMonths), title, axesOf(view)), table)}
<p><a href="/months.csv">${words.home.byMonth} (CSV)</a> · <a href="${to(view, 'years')}">${words.years.title}</a></p>`
}

// The anchor `themes` must stay, with codes and names: it is the vocabulary-uri of sectors in published files (iati.md 7.2).
function groupSection(view: View, kind: 'sectors' | 'themes'): Html {
  const shares = largest(view, kind)
  // Published files lead to the codes of all themes.
  const rest = kind === 'themes' ? shares.slice(shownGroups) : []
  return html`<section><h2 id="${kind}"><a href="${to(view, kind)}">${view.words.groups[kind]}</a></h2>
${groupBars(view, kind, shares.slice(0, shownGroups))}
${rest.length > 0 ? html`<details><summary>+ ${countText(view, rest.length)}</summary>${groupBars(view, kind, rest)}</details>` : undefined}
${kind === 'themes' ? html`<p class="kind">${themeNote(view)}</p>` : undefined}</section>`
}

function reportSection(view: View, reports: readonly ShownReport[]): Html {
  if (reports.length === 0) return html``
  const items = reports.slice(0, shownReports).map((report) => {
    const picture = localAddress(view, report.images[0]?.url)
    return html`<li class="card">${picture && html`<img src="${picture}" alt="" loading="lazy" width="480" height="320">`}<div><h3${spoken(view, report)}><a href="${report.address}">${report.title}</a></h3>
<p>${dayText(view, report.published)}${report.author && html` · <span dir="auto">${report.author}</span>`}</p><p${spoken(view, report)}>${cut(report.text, 180)}</p></div></li>
`
  })
  return html`<h2>${view.words.project.reports}</h2><ul class="cards">
${items}</ul>`
}
