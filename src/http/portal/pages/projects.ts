import { type Html, html } from '../html.js'
import type { Filter, Group, ProjectIndex } from '../project-index.js'
import { countryName, countText, type Language, type PageBody, sectorName, statusName, to, type View } from '../view.js'
import { projectCards } from './parts.js'

const pageSize = 24

/** Parameters of `/projects`, in the order of its addresses. */
export const listParameters = ['q', 'country', 'theme', 'sector', 'status', 'organisation', 'page'] as const
export type ListQuery = { readonly [Name in (typeof listParameters)[number]]?: string }

/** `/projects`: all projects, or those that fit. */
export async function projectsPage(view: View, query: ListQuery): Promise<PageBody> {
  const { words, projectIndex } = view
  const filter: Filter = {
    ...(query.q && { words: query.q }),
    ...(query.country && { countries: query.country }),
    ...(query.theme && { themes: query.theme }),
    ...(query.sector && { sectors: query.sector }),
    ...(query.status && { statuses: query.status }),
    ...(query.organisation && { organisations: query.organisation }),
  }
  const found = await projectIndex.find(filter)
  const pages = Math.max(1, Math.ceil(found.length / pageSize))
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.page) || 1)))
  const shown = found.slice((page - 1) * pageSize, page * pageSize)
  return {
    title: words.list.title,
    description: words.list.found(countText(view, found.length), found.length === 1),
    section: 'projects',
    isUnlisted: Object.keys(filter).length > 0,
    main: html`<h1>${words.list.title}</h1>
${form(view, query)}
<p role="status">${found.length === 0 ? words.list.nothing : words.list.found(countText(view, found.length), found.length === 1)}</p>
${shown.length > 0 ? projectCards(view, shown, 'h2') : undefined}
${pages > 1 ? pager(view, query, page, pages) : undefined}`,
  }
}

function form(view: View, query: ListQuery): Html {
  const { words, projectIndex } = view
  const choices = choicesOf(view)
  const kept = (['sector', 'organisation'] as const).flatMap((name) =>
    query[name] ? html`<input type="hidden" name="${name}" value="${query[name]}">` : [],
  )
  return html`<form class="filters panel" action="${to(view, 'projects')}" role="search">
<div><label for="q">${words.list.words}</label><input id="q" name="q" type="search" value="${query.q ?? ''}" maxlength="200"></div>
${choice(view, 'country', words.list.country, query.country, choices.countries)}
${choice(view, 'theme', words.list.theme, query.theme, choices.themes)}
${choice(view, 'status', words.list.status, query.status, choices.statuses)}
${kept}<div><button>${words.list.show}</button></div></form>
${[query.sector && sectorName(view, query.sector), query.organisation && projectIndex.groups.organisations.get(query.organisation)?.name].filter((name) => name).map((name) => html`<p><span class="badge" dir="auto">${name}</span></p>`)}`
}

type Option = { readonly key: string; readonly name: string }
type Choices = { readonly countries: Option[]; readonly themes: Option[]; readonly statuses: Option[] }

// Sorting names by the rules of a language takes longer than the rest of a page.
const knownChoices = new WeakMap<ProjectIndex, Partial<Record<Language, Choices>>>()

function choicesOf(view: View): Choices {
  const { projectIndex, language } = view
  const known = knownChoices.get(projectIndex) ?? {}
  knownChoices.set(projectIndex, known)
  const { countries, themes, statuses } = projectIndex.groups
  known[language] ??= {
    countries: sorted(language, countries, ({ key }) => countryName(view, key)),
    themes: sorted(language, themes, ({ name }) => name),
    statuses: sorted(language, statuses, ({ key }) => statusName(view, key)),
  }
  return known[language]
}

function sorted(language: Language, groups: ReadonlyMap<string, Group>, name: (group: Group) => string): Option[] {
  return [...groups.values()]
    .map((group) => ({ key: group.key, name: name(group) }))
    .sort((a, b) => a.name.localeCompare(b.name, language))
}

function choice(view: View, name: string, label: string, chosen: string | undefined, options: readonly Option[]): Html {
  const items = options.map(
    (option) =>
      html`<option value="${option.key}"${option.key === chosen ? html` selected` : undefined}>${option.name}</option>\n`,
  )
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">${view.words.list.any}</option>
${items}</select></div>`
}

function pager(view: View, query: ListQuery, page: number, pages: number): Html {
  const { words } = view
  const link = (target: number, text: string, rel: string) =>
    html`<li><a href="${to(view, 'projects')}?${new URLSearchParams({ ...definedOf(query), page: String(target) }).toString()}" rel="${rel}">${text}</a></li>\n`
  return html`<nav class="pager" aria-label="${words.list.pages}"><ul>
${page > 1 ? link(page - 1, words.list.previous, 'prev') : undefined}<li>${words.list.page(countText(view, page), countText(view, pages))}</li>
${page < pages ? link(page + 1, words.list.next, 'next') : undefined}</ul></nav>`
}

/** The parameters that have a value, in the order of addresses. */
export function definedOf(query: ListQuery): Record<string, string> {
  return Object.fromEntries(listParameters.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
}
