import { type Html, html } from '../../../http/pages/html.js'
import { countText, dayName, type PageBody, pluralOf, to, withColon } from '../../../http/pages/page.js'
import { organisationsPath } from '../../../iati/addresses.js'
import { escapeText } from '../../../kernel/xml/writer.js'
import { unescapeText } from '../../../release/read/activity-text.js'
import { barList } from '../charts/bars.js'
import { worldMap } from '../charts/world-map.js'
import { type Group, parameters, type Share } from '../project-index.js'
import { cellHtml, groupName, spoken } from '../said.js'
import { countryName, type View } from '../view.js'
import { moneyStory, projectCards } from './parts.js'
import { citation } from './projects.js'

/** Kinds of groups that have pages. */
export const groupPages = ['organisations', 'countries', 'sectors', 'themes'] as const
export type GroupPageKind = (typeof groupPages)[number]

const shownProjects = 12
const shownBars = 12

/** `/countries/{code}` and its like: totals and projects of a group; undefined when nothing is in it. */
export async function groupPage(view: View, kind: GroupPageKind, key: string): Promise<PageBody | undefined> {
  const { words, projectIndex } = view
  const group = projectIndex.groups[kind].get(key)
  if (!group) return undefined
  const said = groupName(view, kind, group)
  const name = said.text
  const label = words.group[parameters[kind]]
  const counted = words.projects(countText(view, group.places.length), pluralOf(view, group.places.length))
  const day = dayName(view, view.release.manifest.generated)
  const verdict = words.group.verdict(day, view.publisherName, counted, name, view.release.id)
  const all = html`${to(view, 'projects')}?${new URLSearchParams({ [parameters[kind]]: key }).toString()}`
  return {
    title: name,
    description: `${withColon(view, label)} ${verdict}`,
    section: 'projects',
    main: html`<p class="kind"><a href="${to(view, kind)}">${label}</a>${kind === 'themes' || name === key ? undefined : html` <code>${key}</code>`}</p><h1${spoken(view, said)}>${name}</h1>
<p class="lead">${words.group.verdict(day, view.publisherName, counted, cellHtml(view, said), view.release.id)}</p>
${moneyStory(view, group.sums)}
${kind === 'organisations' ? await siteLink(view, key) : undefined}
<h2>${words.nav.projects}</h2>
${projectCards(view, group.places.slice(0, shownProjects))}
<p><a href="${all}">${counted}</a></p>
${breakdowns(view, kind, group)}
${kind === 'organisations' ? undefined : html`<p class="kind">${words.group.split}</p>`}
${citation(view, cellHtml(view, said), to(view, kind, key))}`,
  }
}

/** The partner's own page, as the organisation file has it (iati.md 12.2). */
async function siteLink(view: View, ref: string): Promise<Html | undefined> {
  const { words, release } = view
  const text = (await (await release.find(organisationsPath))?.identity.text()) ?? ''
  const from = text.indexOf(`<organisation-identifier>${escapeText(ref)}<`)
  if (from < 0) return undefined
  const record = text.slice(from, text.indexOf('</iati-organisation>', from))
  const [, url = ''] =
    /<document-link\b[^>]* url="([^"]*)"(?:(?!<\/document-link>)[\s\S])*<category code="B16"/.exec(record) ?? []
  const address = unescapeText(url)
  if (!/^https?:\/\//i.test(address)) return undefined
  return html`<p>${withColon(view, words.group.site)} <a href="${address}" rel="external nofollow" dir="ltr">${address}</a></p>\n`
}

function breakdowns(view: View, kind: GroupPageKind, group: Group): Html {
  const sections = (['countries', 'sectors', 'organisations'] as const).flatMap((of) => {
    if (of === kind) return []
    const shared = view.projectIndex.sharedWith(group, of).slice(0, shownBars)
    return [html`<section><h2>${view.words.groups[of]}</h2>${groupBars(view, of, shared)}</section>`]
  })
  const countries = view.projectIndex.sharedWith(group, 'countries')
  const map = kind !== 'countries' && countries.length > 1 ? countryMap(view, countries) : undefined
  return html`${map && html`<div class="panel">${map}</div>`}<div class="halves">${sections}</div>`
}

/** Groups by their projects; themes with their codes. */
export function groupBars(view: View, kind: GroupPageKind, shares: readonly Share[]): Html {
  const bars = shares.map(({ group, count }) => ({
    name: cellHtml(view, groupName(view, kind, group)),
    ...(kind === 'themes' && { code: group.key }),
    href: to(view, kind, group.key),
    value: count,
    text: countText(view, count),
  }))
  return barList(bars)
}

/** Countries by their projects. */
export function countryMap(view: View, shares: readonly Share[]): Html {
  const countries = shares.map(({ group: { key }, count }) => ({
    ...{ code: key, name: countryName(view, key), count, href: to(view, 'countries', key) },
  }))
  return worldMap(countries)
}
