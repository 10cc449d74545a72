import { type Html, html } from '../html.js'
import { amountOf, currenciesOf, type Group } from '../project-index.js'
import {
  countryName,
  countText,
  moneyName,
  type PageBody,
  pluralOf,
  sectorName,
  sumText,
  table,
  to,
  toldKinds,
  type View,
} from '../view.js'
import { type GroupPageKind, groupName, groupPages } from './group.js'

/** Parameters of `/compare`. */
export const compareParameters = ['kind', 'first', 'second'] as const
export type CompareQuery = { readonly [Name in (typeof compareParameters)[number]]?: string }

// Those with most projects, which a reader chooses from.
const mostChoices = 100
const shownNames = 5

/** `/compare`: two groups of a kind beside each other; undefined for a kind that has no pages. */
export function comparePage(view: View, { kind = 'countries', first, second }: CompareQuery): PageBody | undefined {
  if (!Object.hasOwn(groupPages, kind)) return undefined
  const { words, projectIndex } = view
  const { title, intro, same } = words.compare
  const known = projectIndex.groups[kind as GroupPageKind]
  const [one, other] = [first, second].map((key) => (key === undefined ? undefined : known.get(key)))
  const isReady = one !== undefined && other !== undefined && one !== other
  const names = [one, other].flatMap((group) => (group ? groupName(view, kind as GroupPageKind, group) : []))
  return {
    title: names.length === 2 ? `${title}: ${names.join(', ')}` : title,
    description: intro,
    section: 'projects',
    isUnlisted: true,
    main: html`<p class="path"><a href="${to(view, kind)}">${words.groups[kind as GroupPageKind]}</a></p><h1>${title}</h1><p class="lead">${intro}</p>
${compareForm(view, kind as GroupPageKind, one, other)}
${isReady ? beside(view, kind as GroupPageKind, [one, other]) : html`<p role="status">${same}</p>`}`,
  }
}

/** Two groups to choose, of which the first may be chosen already. */
function compareForm(view: View, kind: GroupPageKind, first: Group | undefined, second: Group | undefined): Html {
  const { words, projectIndex } = view
  const choices = [...projectIndex.groups[kind].values()]
    .sort((a, b) => b.places.length - a.places.length || (a.key < b.key ? -1 : 1))
    .slice(0, mostChoices)
  const choice = (name: 'first' | 'second', chosen: Group | undefined) => {
    const all = chosen === undefined || choices.includes(chosen) ? choices : [chosen, ...choices]
    const options = all.map(
      (group) =>
        html`<option value="${group.key}"${group === chosen ? html` selected` : undefined}>${groupName(view, kind, group)}</option>\n`,
    )
    return html`<div><label for="${name}">${words.compare[name]}</label><select id="${name}" name="${name}">${options}</select></div>`
  }
  return html`<form class="filters panel" action="${to(view, 'compare')}"><input type="hidden" name="kind" value="${kind}">
${choice('first', first ?? choices[0])}${choice('second', second ?? choices.find((group) => group !== (first ?? choices[0])))}
<div><button>${words.compare.title}</button></div></form>`
}

function beside(view: View, kind: GroupPageKind, groups: readonly [Group, Group]): Html {
  const { words, projectIndex } = view
  const row = (name: string | Html, cells: readonly (string | Html)[]) =>
    html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td dir="auto">${cell}</td>`)}</tr>\n`
  const currencies = currenciesOf(projectIndex.all.sums).filter((one) => groups.some(({ sums }) => sums.has(one)))
  const money = currencies.flatMap((currency) =>
    toldKinds(view).map((one) =>
      row(
        `${moneyName(view, one)} (${currency})`,
        groups.map(({ sums }) => {
          const of = sums.get(currency)
          const amount = of && amountOf(of, one)
          return amount === undefined || amount === '0'
            ? words.money.none
            : html`<data value="${amount}">${sumText(view, amount, currency, { whole: true })}</data>`
        }),
      ),
    ),
  )
  const shared = { countries: countryName, sectors: sectorName, organisations: undefined } as const
  const most = (Object.keys(shared) as (keyof typeof shared)[]).flatMap((of) =>
    of === kind
      ? []
      : row(
          words.groups[of],
          groups.map((group) =>
            projectIndex
              .sharedWith(group, of)
              .sort((a, b) => b.count - a.count || (a.group.key < b.group.key ? -1 : 1))
              .slice(0, shownNames)
              .map(
                ({ group: { key, name }, count }) => `${shared[of]?.(view, key) ?? name} (${countText(view, count)})`,
              )
              .join('; '),
          ),
        ),
  )
  const [one, other] = groups
  const isIn = new Set(one.places)
  const both = other.places.filter((place) => isIn.has(place)).length
  // The head of a table is a button that sorts, which a link may not be in.
  const heads = groups.map((group) => groupName(view, kind, group))
  return html`${table(
    words.compare.title,
    [words.groups.name, ...heads],
    [
      row(
        words.nav.projects,
        groups.map(({ key, places }) => html`<a href="${to(view, kind, key)}">${countText(view, places.length)}</a>`),
      ),
      ...money,
      ...most,
    ],
    3,
  )}
<p>${words.compare.shared}: ${words.projects(countText(view, both), pluralOf(view, both))}.${kind === 'organisations' ? undefined : html` ${words.group.split}`}</p>`
}
