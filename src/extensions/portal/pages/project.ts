import { type Html, html } from '../../../http/pages/html.js'
import { linkedData } from '../../../http/pages/linked-data.js'
import { cut, type PageBody, to, withColon } from '../../../http/pages/page.js'
import { subscriptionForm } from '../../../http/pages/subscription.js'
import { demoPath, projectFeedPath } from '../../../iati/addresses.js'
import { readProject, type ShownProject } from '../read-project.js'
import { children } from '../record.js'
import { cellHtml, partnerOf, type Said, saidBy, spoken, themesOf, titleOf } from '../said.js'
import { countryName, moneyText, statusName, type View } from '../view.js'
import { localAddress, pictureLink } from './parts.js'
import { documentSection, photoSection, reportSection, safeHref } from './project-documents.js'
import { factsSection, partnerLink } from './project-facts.js'
import { moneySection, projectMoney } from './project-money.js'
import { resultSection } from './project-results.js'
import { storySection } from './project-story.js'
import { citation } from './projects.js'

// Code of ActivityStatus: implementation.
const openStatus = '2'

/** `/projects/{id}`: one project, from its published record; undefined when it has none. */
export async function projectPage(view: View, id: string): Promise<PageBody | undefined> {
  const shown = await readProject(view, id)
  if (!shown) return undefined
  const { entry, activity } = shown
  const { words } = view
  const text = (type: string) =>
    saidBy(
      view,
      activity,
      children(activity, 'description').find(({ attributes }) => (attributes.type ?? '1') === type),
    )
  const summary = text('1')
  const title = titleOf(view, entry)
  return {
    title: cut(title.text, 120),
    description: cut(summary.text, 200),
    section: 'projects',
    head: headOf(shown, summary.text),
    main: html`<p class="path"><a href="${to(view, 'projects')}">${words.nav.projects}</a></p>
<h1${spoken(view, title)}>${title.text}</h1>
<p><span class="badge">${statusName(view, entry.status)}</span>${/^\s*(1|true)\s*$/.test(activity.attributes.humanitarian ?? '') ? html`<span class="badge">${words.project.humanitarian}</span>` : undefined}${badges(shown)}</p>
<div class="columns"><div>${heroPicture(shown)}${paragraphs(view, summary, 'lead')}</div>
<aside><div class="panel">${projectMoney(shown)}${await giftOptions(shown)}${giveLink(shown)}${entry.partner && html`<p>${withColon(view, words.project.partner)} ${partnerLink(view, entry, entry.partner)}</p>`}</div>
${view.takesSubscriptions ? subscriptionForm(view, entry.project) : undefined}</aside>
<div>${textSection(view, words.project.needs, text('2'))}${textSection(view, words.project.activities, text('4'))}
${storySection(shown)}
${photoSection(shown)}
${resultSection(shown)}
${reportSection(shown)}
${moneySection(shown)}
${factsSection(shown)}
${documentSection(shown)}
${dataSection(shown)}</div></div>`,
  }
}

function headOf({ view, entry, reports }: ShownProject, summary: string): Html {
  const { baseUrl, words, publisherName } = view
  const id = String(entry.project)
  const picture = localAddress(view, entry.picture)
  const linked = {
    '@context': 'https://schema.org',
    '@type': 'Project',
    name: titleOf(view, entry).text,
    description: cut(summary, 500),
    identifier: entry.identifier,
    url: `${baseUrl}/projects/${id}`,
    ...(picture && { image: baseUrl + picture }),
    ...(entry.start && { foundingDate: entry.start }),
    ...(entry.partner && { member: { '@type': 'Organization', name: partnerOf(view, entry).text } }),
    parentOrganization: { '@type': 'Organization', name: publisherName },
    areaServed: entry.countries.map((code) => ({
      '@type': 'Country',
      name: countryName(view, code),
      identifier: code,
    })),
  }
  const record = `/iati/activities/${encodeURIComponent(entry.identifier)}`
  const feed =
    reports.length === 0
      ? undefined
      : html`<link rel="alternate" type="application/atom+xml" title="${words.project.reports}" href="${projectFeedPath(entry.project)}">\n`
  return html`<meta property="og:type" content="article">
${pictureLink(view, entry.picture)}<link rel="alternate" type="application/xml" title="IATI" href="${record}.xml">
<link rel="alternate" type="application/json" title="IATI" href="${record}.json">
${feed}${linkedData(linked)}`
}

function badges({ view, entry }: ShownProject): Html[] {
  return [
    ...entry.countries.map(
      (code) => html`<a class="badge" href="${to(view, 'countries', code)}">${countryName(view, code)}</a>`,
    ),
    ...themesOf(view, entry).map(
      ([code, name]) => html`<a class="badge" href="${to(view, 'themes', code)}"${spoken(view, name)}>${name.text}</a>`,
    ),
  ]
}

/** Where people give, by the operator's template, else the project's own page; the demo's pages are the portal's own. */
function giveLink({ view, entry }: ShownProject): Html | undefined {
  const { projectLinkTemplate, words } = view
  const address = projectLinkTemplate?.replaceAll('{id}', String(entry.project)) ?? entry.page
  if (address === undefined || localAddress(view, address)?.startsWith(`${demoPath}/`)) return undefined
  return html`<p><a class="give" href="${localAddress(view, address) ?? safeHref(address)}">${entry.status === openStatus ? words.project.give : words.project.readMore}</a></p>`
}

/** What certain gifts do, of the record and not of the release: IATI has no element for it. */
async function giftOptions({ view, entry }: ShownProject): Promise<Html | undefined> {
  const { currency = '', optionsOf } = view.gifts ?? {}
  // An amount alone says nothing of what it does.
  const options = ((await optionsOf?.(entry.project)) ?? []).filter(({ description }) => description?.trim())
  if (options.length === 0) return undefined
  const items = options.map(
    ({ amount, description }) =>
      html`<li><strong>${moneyText(view, amount, currency, { whole: true })}</strong> <span dir="auto">${description}</span></li>\n`,
  )
  return html`<h2>${view.words.project.options}</h2><ul class="options">${items}</ul>`
}

function heroPicture({ view, entry }: ShownProject): Html | undefined {
  const picture = localAddress(view, entry.picture)
  return picture === undefined
    ? undefined
    : html`<img class="picture" src="${picture}" alt="${view.words.project.picture(cut(titleOf(view, entry).text, 120))}" width="480" height="320">`
}

function paragraphs(view: View, said: Said, kind?: string): Html[] {
  const all = said.text.split('\n').filter((one) => one !== '')
  return all.map((one) => html`<p${kind && html` class="${kind}"`}${spoken(view, said)}>${one}</p>\n`)
}

function textSection(view: View, title: string, said: Said): Html {
  return said.text === '' ? html`` : html`<h2>${title}</h2>${paragraphs(view, said)}`
}

function dataSection({ view, entry }: ShownProject): Html {
  const record = `/iati/activities/${encodeURIComponent(entry.identifier)}`
  return html`<h2>${view.words.project.data}</h2>
<p><a href="${record}.xml">XML (IATI 2.03)</a> · <a href="${record}.json">JSON</a> · <a href="${to(view, 'projects', `${entry.project}.csv`)}">${view.words.project.transactions} (CSV)</a></p>
${citation(view, cellHtml(view, titleOf(view, entry)), to(view, 'projects', String(entry.project)))}
<p class="kind"><a href="${record}.xml?release=${view.release.id}">XML: ${view.words.changes.release} ${view.release.id}</a></p>`
}
