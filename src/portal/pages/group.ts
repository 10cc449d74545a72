import { type Group, type GroupKind, organisationId } from '../catalogue.js'
import { barList } from '../charts/bars.js'
import { worldMap } from '../charts/world-map.js'
import { type Html, html } from '../html.js'
import {
  countryName,
  countText,
  type PageBody,
  sectorName,
  statusName,
  sumTiles,
  tile,
  to,
  type View,
} from '../view.js'
import { projectCards } from './parts.js'

/** Kinds of groups that have pages, with the parameter of `/projects` that lists them. */
export const groupPages = {
  organisations: { parameter: 'organisation' },
  countries: { parameter: 'country' },
  sectors: { parameter: 'sector' },
  themes: { parameter: 'theme' },
} as const satisfies Partial<Record<GroupKind, object>>

export type GroupPageKind = keyof typeof groupPages

const shownProjects = 12
const shownBars = 12
// Entries of large groups that are read for the bars; the sums count all.
const mostRead = 5_000

/** `/countries/{code}` and its like: totals and projects of a group; undefined when nothing is in it. */
export function groupPage(view: View, kind: GroupPageKind, key: string): PageBody | undefined {
  const { words, catalogue } = view
  const group = catalogue.groups[kind].get(key)
  if (!group) return undefined
  const name = nameOf(view, kind, group)
  const label = {
    organisations: words.group.organisation,
    countries: words.group.country,
    sectors: words.group.sector,
    themes: words.group.theme,
  }[kind]
  const projects = countText(view, group.places.length)
  const all = html`${to(view, 'projects')}?${new URLSearchParams({ [groupPages[kind].parameter]: key }).toString()}`
  return {
    title: name,
    description: `${label}: ${name}. ${words.projects(projects, group.places.length === 1)}`,
    section: 'projects',
    main: html`<p class="kind">${label}${kind === 'themes' || name === key ? undefined : html` <code>${key}</code>`}</p><h1 dir="auto">${name}</h1>
<dl class="tiles">${tile(words.nav.projects, projects)}${sumTiles(view, group)}</dl>
<p class="kind">${words.group.whole}</p>
${breakdowns(view, kind, group)}
<h2>${words.group.biggest}</h2>
${projectCards(view, group.places.slice(0, shownProjects))}
<p><a href="${all}">${words.group.more(projects)}</a></p>`,
  }
}

function nameOf(view: View, kind: GroupPageKind, { key, name }: Group): string {
  if (kind === 'countries') return countryName(view, key)
  return kind === 'sectors' ? sectorName(view, key) : name || key
}

function breakdowns(view: View, kind: GroupPageKind, group: Group): Html {
  const { words } = view
  const counted = {
    countries: new Map<string, number>(),
    sectors: new Map<string, number>(),
    statuses: new Map<string, number>(),
    organisations: new Map<string, number>(),
  }
  const names = new Map<string, string>()
  const add = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1)
  for (const place of group.places.slice(0, mostRead)) {
    const entry = view.catalogue.entry(place)
    for (const code of new Set(entry.countries)) add(counted.countries, code)
    for (const code of new Set(entry.sectors)) add(counted.sectors, code)
    add(counted.statuses, entry.status)
    if (!entry.partner) continue
    const id = organisationId(entry.partner)
    names.set(id, entry.partner.name)
    add(counted.organisations, id)
  }
  const bars = (
    of: keyof typeof counted,
    title: string,
    name: (key: string) => string,
    href: (key: string) => string,
  ) => {
    const all = [...counted[of]].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, shownBars)
    const list = barList(
      all.map(([key, value]) => ({ name: name(key), href: href(key), value, text: countText(view, value) })),
    )
    return html`<section><h2>${title}</h2>${list}</section>`
  }
  const map = [...counted.countries].map(([code, projects]) => ({
    code,
    name: countryName(view, code),
    count: projects,
    href: to(view, 'countries', code),
  }))
  const sections = [
    kind === 'countries'
      ? undefined
      : bars(
          'countries',
          words.group.countries,
          (code) => countryName(view, code),
          (code) => to(view, 'countries', code),
        ),
    kind === 'sectors'
      ? undefined
      : bars(
          'sectors',
          words.home.sectors,
          (code) => sectorName(view, code),
          (code) => to(view, 'sectors', code),
        ),
    kind === 'organisations'
      ? undefined
      : bars(
          'organisations',
          words.group.partners,
          (id) => names.get(id) ?? id,
          (id) => to(view, 'organisations', id),
        ),
    bars(
      'statuses',
      words.group.status,
      (code) => statusName(view, code),
      (code) => `${to(view, 'projects')}?status=${code}`,
    ),
  ].filter((one) => one !== undefined)
  return html`${map.length > 1 ? html`<div class="panel">${worldMap(map, words.home.map(map.length))}</div>` : undefined}<div class="halves">${sections}</div>`
}
