import { type Html, html, joinedHtml } from '../../../http/pages/html.js'
import { countText, dayText, type Language, type PageBody, pluralOf, to, withColon } from '../../../http/pages/page.js'
import {
  type Filter,
  type Found,
  type GroupKind,
  groupKinds,
  isUnscoped,
  type ListOrder,
  listOrders,
  type ProjectIndex,
  parameters,
} from '../project-index.js'
import { cellHtml, groupName, type Said, spoken } from '../said.js'
import { type SumKind, splitKinds } from '../sum-kinds.js'
import { termsOf } from '../text-index.js'
import { moneyName, toldKinds, type View } from '../view.js'
import { moneyStory, pageOf, projectCards, queryText } from './parts.js'

const pageSize = 24
// Parameters that choose parts of projects.
const scoped = splitKinds.map((kind) => parameters[kind])

/** Parameters of `/projects`, in the order of its addresses. */
export const listParameters = [
  'q',
  'country',
  'theme',
  'sector',
  'status',
  'organisation',
  'year',
  'figure',
  'sort',
  'page',
] as const
export type ListQuery = { readonly [Name in (typeof listParameters)[number]]?: string }

/** Names of kinds of money in addresses. */
export const figureKinds = {
  received: 'in',
  paid: 'partners',
  expenditure: 'expenditure',
  budget: 'budget',
} as const satisfies Record<string, SumKind>

/** The kind of money that a list is filtered by, with its year. */
function kindOf(query: ListQuery): SumKind | undefined {
  const { figure = '' } = query
  return yearOf(query) !== undefined && Object.hasOwn(figureKinds, figure)
    ? figureKinds[figure as keyof typeof figureKinds]
    : undefined
}

function yearOf({ year = '' }: ListQuery): number | undefined {
  return /^\d{4}$/.test(year) ? Number(year) : undefined
}

/** The groups that a list is filtered by. */
function groupsIn(query: ListQuery): (readonly [GroupKind, string])[] {
  return groupKinds.map((kind) => [kind, query[parameters[kind]] ?? ''] as const).filter(([, key]) => key !== '')
}

/** The projects of a list, and their order, as all its forms have them. */
export async function listedProjects(
  { projectIndex }: View,
  query: ListQuery,
): Promise<{ found: Found; order: ListOrder; filter: Filter }> {
  const [year, money] = [yearOf(query), kindOf(query)]
  const filter: Filter = {
    ...(query.q && { words: query.q }),
    ...Object.fromEntries(groupsIn(query)),
    ...(year !== undefined && { year }),
    ...(money && { money }),
  }
  return { found: await projectIndex.find(filter), order: orderOf(query), filter }
}

/** The order that a list has, which words bring with them unless another one is chosen. */
function orderOf({ q, sort }: ListQuery): ListOrder {
  const chosen = listOrders.find((one) => one === sort)
  return chosen ?? (q ? 'best' : 'newest')
}

/** `/projects`: all projects, or those that fit. */
export async function projectsPage(view: View, query: ListQuery): Promise<PageBody> {
  const { words, projectIndex } = view
  const { found, order, filter } = await listedProjects(view, query)
  const { length } = found.places
  const isFiltered = Object.keys(filter).length > 0
  const { from, to: end, whole, pager } = pageOf(view, 'projects', query, { size: pageSize, count: length })
  const shown = await projectIndex.ordered(found, filter, order, from, end)
  const count = words.projects(countText(view, length), pluralOf(view, length))
  const sums = isFiltered ? await projectIndex.sumsOf(found, filter) : projectIndex.all.sums
  const scope = projectIndex.scopeOf(filter)
  const sumsNote = isUnscoped(scope)
    ? words.list.totals
    : words.list.scope(chosenBy(view, definedOf(query, [...scoped, ...(scope.year ? ['year'] : [])])))
  const terms = termsOf(query.q ?? '')
  const reason =
    terms.length === 0 ? undefined : { terms, fieldsOf: (place: number) => projectIndex.fieldsOf(found, place) }
  return {
    title: words.nav.projects,
    description: count,
    section: 'projects',
    isUnlisted: isFiltered || query.sort !== undefined,
    main: html`<h1>${words.nav.projects}</h1>
${form(view, query)}
${chips(view, query)}
<p role="status">${length === 0 ? words.list.nothing : html`<strong>${count}</strong>`}${length > 0 ? html` ${words.list.download} <a href="/projects.csv${queryText(whole)}" rel="nofollow">CSV</a>, <a href="/projects.json${queryText(whole)}" rel="nofollow">JSON</a>` : undefined}</p>
${length > 0 ? html`${moneyStory(view, sums)}\n${projectCards(view, [...shown], 'h2', reason)}` : await suggestion(view, query)}
${pager}
${length > 0 ? html`<p class="kind">${sumsNote}</p>\n${listCitation(view, whole)}` : undefined}`,
  }
}

/** The same search with words of the projects in place of those that no project has, where there are similar ones. */
async function suggestion(view: View, query: ListQuery): Promise<Html | undefined> {
  const meant = await view.projectIndex.meant(query.q ?? '')
  if (meant === undefined) return undefined
  return html`<p>${view.words.list.meant(html`<a href="${to(view, 'projects')}${queryText({ ...query, q: meant })}" dir="auto">${meant}</a>`)}</p>\n`
}

/** What filters choose, with commas between. */
function chosenBy(view: View, query: ListQuery): Html {
  const names = Object.values(namesOfQuery(view, query)).map((name) => cellHtml(view, name))
  return joinedHtml(names, ', ')
}

function listCitation(view: View, query: ListQuery): Html {
  const { projects } = view.words.nav
  const chosen = chosenBy(view, query)
  return citation(
    view,
    chosen.html ? html`${projects} (${chosen})` : projects,
    `${to(view, 'projects')}${queryText(query)}`,
  )
}

/** What a text names that uses a list: who, what, of which release, where. */
export function citation(view: View, what: string | Html, address: string): Html {
  const { words, publisherName, release, baseUrl } = view
  return html`<p class="kind">${words.list.cite} <cite dir="auto">${withColon(view, publisherName)} ${what}. ${words.changes.release} ${release.id}, ${dayText(view, release.manifest.generated)}. ${baseUrl}${address}</cite></p>`
}

function groupLinks(view: View): Html[] {
  const { groups, years } = view.words
  const link = (page: string, name: string) => html`<a class="badge" href="${to(view, page)}">${name}</a>`
  const kinds = ['countries', 'sectors', 'themes', 'organisations'] as const
  return [...kinds.map((kind) => link(kind, groups[kind])), link('years', years.title)]
}

/** Each filter with a link to the list without it. */
function chips(view: View, query: ListQuery): Html | undefined {
  const { words } = view
  const items = Object.entries(namesOfQuery(view, query)).map(([parameter, name]) => {
    // A kind of money goes with its year.
    const gone = [parameter, 'page', ...(parameter === 'year' ? ['figure'] : [])]
    const others = Object.fromEntries(Object.entries(query).filter(([one]) => !gone.includes(one)))
    return html`<li><a class="badge" href="${to(view, 'projects')}${queryText(others)}"><span${spoken(view, name)}>${name.text}</span> × <span class="hidden">${words.list.remove}</span></a></li>\n`
  })
  return items.length === 0 ? undefined : html`<ul class="chips">${items}</ul>`
}

/** What each filter chooses, in the reader's language. */
function namesOfQuery(view: View, query: ListQuery): { readonly [Name in keyof ListQuery]?: Said } {
  const own = (text: string): Said => ({ text, language: view.language })
  const [year, money] = [yearOf(query), kindOf(query)]
  return {
    ...(query.q && { q: own(view.words.list.quoted(query.q)) }),
    ...Object.fromEntries(groupsIn(query).map(([kind, key]) => [parameters[kind], groupName(view, kind, key)])),
    ...(year !== undefined && {
      year: own(money ? `${withColon(view, moneyName(view, money))} ${year}` : String(year)),
    }),
  }
}

/** Words to look for; for a page that is not the list. */
export function searchForm(view: View): Html {
  return html`<form class="search" action="${to(view, 'projects')}" role="search">${wordsInput(view, undefined)}</form>`
}

function wordsInput({ words }: View, value = ''): Html {
  return html`<div class="line"><label for="q">${words.home.find}</label><input id="q" name="q" type="search" value="${value}" maxlength="200" aria-describedby="q-note"><button>${words.list.show}</button></div>
<p class="kind" id="q-note">${words.list.words}</p>`
}

function form(view: View, query: ListQuery): Html {
  const { words } = view
  const choices = choicesOf(view)
  const kept = (['sector', 'organisation'] as const).flatMap((name) =>
    query[name] ? html`<input type="hidden" name="${name}" value="${query[name]}">` : [],
  )
  const orders = listOrders
    .filter((one) => (one === 'best' ? query.q : one === 'newest' || toldKinds(view).includes(one)))
    .map((key) => ({ key, text: key === 'best' || key === 'newest' ? words.list[key] : moneyName(view, key) }))
  const figures = [{ key: '', text: words.list.ran }, ...figureChoices(view)]
  const { q: _, sort, ...chosen } = query
  const isOpen = sort !== undefined || Object.keys(chosen).some((name) => name !== 'page')
  return html`<form class="search" action="${to(view, 'projects')}" role="search">
${wordsInput(view, query.q)}
<details${isOpen ? html` open` : undefined}><summary>${words.list.filters}</summary><div class="filters">
${selectField(view, 'country', words.group.country, query.country, choices.countries)}
${selectField(view, 'theme', words.group.theme, query.theme, choices.themes)}
${selectField(view, 'status', words.project.status, query.status, choices.statuses)}
<div><label for="year">${words.list.year}</label><input id="year" name="year" inputmode="numeric" pattern="[0-9]{4}" value="${query.year ?? ''}" maxlength="4"></div>
${selectField(view, 'figure', words.list.inYear, query.figure, figures, false)}
${selectField(view, 'sort', words.list.order, orderOf(query), orders, false)}
</div><p class="kind">${withColon(view, words.years.by)} ${groupLinks(view)}</p></details>${kept}</form>`
}

/** The kinds of money that a release tells, with their names. */
export function figureChoices(view: View): { readonly key: keyof typeof figureKinds; readonly text: string }[] {
  const kinds: readonly SumKind[] = toldKinds(view)
  return (Object.keys(figureKinds) as (keyof typeof figureKinds)[])
    .filter((key) => kinds.includes(figureKinds[key]))
    .map((key) => ({ key, text: moneyName(view, figureKinds[key]) }))
}

type Option = { readonly key: string } & Pick<Said, 'text'> & Partial<Said>
type Choices = Readonly<Record<'countries' | 'themes' | 'statuses', readonly Option[]>>

// Sorting names by the rules of a language takes longer than the rest of a page.
const knownChoices = new WeakMap<ProjectIndex, Partial<Record<Language, Choices>>>()

function choicesOf(view: View): Choices {
  const { projectIndex, language } = view
  const known = knownChoices.get(projectIndex) ?? {}
  knownChoices.set(projectIndex, known)
  const sorted = (kind: keyof Choices) =>
    [...projectIndex.groups[kind].values()]
      .map((group) => ({ key: group.key, ...groupName(view, kind, group) }))
      .sort((a, b) => a.text.localeCompare(b.text, language))
  known[language] ??= { countries: sorted('countries'), themes: sorted('themes'), statuses: sorted('statuses') }
  return known[language]
}

/** A list to choose from. */
export function selectField(
  view: View,
  name: string,
  label: string,
  chosen: string | undefined,
  options: readonly Option[],
  hasAny = true,
): Html {
  const items = optionsOf(view, chosen, options)
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">${hasAny ? html`<option value="">${view.words.list.any}</option>\n` : undefined}${items}</select></div>`
}

// Hundreds of options are most of the markup of a list, and few lists choose one of them.
const unchosen = new WeakMap<readonly Option[], Html>()

function optionsOf(view: View, chosen: string | undefined, options: readonly Option[]): Html {
  const isChosen = options.some(({ key }) => key === chosen)
  const known = isChosen ? undefined : unchosen.get(options)
  if (known) return known
  const drawn = html`${options.map(
    (option) =>
      html`<option value="${option.key}"${option.key === chosen ? html` selected` : undefined}${option.language && option.language !== view.language ? spoken(view, { language: option.language }) : undefined}>${option.text}</option>\n`,
  )}`
  if (!isChosen) unchosen.set(options, drawn)
  return drawn
}

/** The parameters that have a value, in the order of addresses. */
export function definedOf(
  query: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
}
