import { type Html, html } from '../html.js'
import { organisationId } from '../project-index.js'
import type { ShownProject } from '../read-project.js'
import { child, children } from '../record.js'
import { partnerOf, saidBy, saidHtml, spoken } from '../said.js'
import { codeHtml, countryName, dayText, statusName, to, unitText } from '../view.js'

type Fact = { readonly name: string; readonly value: Html | string | undefined }

/** The facts about a project, and the way to their sources. */
export function factsSection(shown: ShownProject): Html {
  const { project } = shown.view.words
  const facts = factsOf(shown).filter(({ value }) => value !== undefined)
  return html`<h2>${project.facts}</h2><dl class="facts">
${facts.map(({ name, value }) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
<p><a href="${to(shown.view, 'projects', String(shown.entry.project), 'why')}" rel="nofollow">${project.why}</a></p>`
}

function factsOf({ view, entry, activity }: ShownProject): Fact[] {
  const { project: words } = view.words
  const inner = (path: string) => children(activity, path)
  const share = (percentage: string | undefined) => {
    if (percentage === undefined) return ''
    const [, decimals = ''] = percentage.split('.')
    return ` ${unitText(view, Number(percentage), 'percent', decimals.length)}`
  }
  const funders = inner('participating-org').filter(({ attributes }) => attributes.role === '1')
  const countries = inner('recipient-country').map(
    ({ attributes: { code = '', percentage } }) =>
      html`<a href="${to(view, 'countries', code)}">${countryName(view, code)}</a>${share(percentage)}`,
  )
  const regions = inner('recipient-region').map(
    ({ attributes: { code = '', percentage } }) => html`${codeHtml(view, 'Region', code)}${share(percentage)}`,
  )
  const places = inner('location').map(
    (one) =>
      html`${saidHtml(view, saidBy(view, activity, child(one, 'name')))} ${child(child(one, 'point'), 'pos')?.text}`,
  )
  const sectors = inner('sector')
    .filter(({ attributes }) => attributes.vocabulary === '1')
    .map(
      ({ attributes: { code = '', percentage } }) =>
        html`<a href="${to(view, 'sectors', code)}">${codeHtml(view, 'Sector', code)}</a>${share(percentage)}`,
    )
  const goals = inner('tag').map(
    ({ attributes: { vocabulary, code = '' } }) =>
      html`${code} ${codeHtml(view, vocabulary === '2' ? 'UNSDG-Goals' : 'UNSDG-Targets', code)}`,
  )
  const several = (items: readonly Html[]) =>
    items.length < 2 ? items[0] : html`<ul>${items.map((one) => html`<li>${one}</li>\n`)}</ul>`
  return [
    { name: words.status, value: statusName(view, entry.status) },
    { name: words.start, value: dateOf({ view, activity }, '2', '1') },
    { name: words.end, value: dateOf({ view, activity }, '4', '3') },
    { name: view.words.groups.countries, value: several(countries) },
    { name: words.regions, value: several(regions) },
    { name: words.place, value: several(places) },
    {
      name: words.partner,
      value:
        entry.partner &&
        html`<a href="${to(view, 'organisations', organisationId(entry.partner))}"${spoken(view, partnerOf(view, entry))}>${partnerOf(view, entry).text}</a>`,
    },
    {
      name: words.funders,
      value: several(funders.map((one) => saidHtml(view, saidBy(view, activity, one)))),
    },
    { name: view.words.groups.sectors, value: several(sectors) },
    { name: words.goals, value: several(goals) },
    { name: words.identifier, value: html`<code>${entry.identifier}</code>` },
    { name: words.changed, value: dayText(view, entry.changed) },
  ]
}

/** The actual day, else the planned one. */
function dateOf(
  { view, activity }: Pick<ShownProject, 'view' | 'activity'>,
  actual: string,
  planned: string,
): Fact['value'] {
  const dates = children(activity, 'activity-date')
  const found = [actual, planned].flatMap((type) => dates.find(({ attributes }) => attributes.type === type) ?? [])[0]
  const { type = '', 'iso-date': day } = found?.attributes ?? {}
  const note = type === planned ? html` (${view.words.statuses['1']})` : undefined
  return day && html`${dayText(view, day)}${note}`
}
