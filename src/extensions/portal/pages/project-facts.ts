import { type Html, html } from '../../../http/pages/html.js'
import { dayText, to, unitText } from '../../../http/pages/page.js'
import type { Element } from '../../../kernel/xml/element.js'
import type { ActivityEntry } from '../../../release/read/activity-entry.js'
import { organisationId } from '../project-index.js'
import type { ShownProject } from '../read-project.js'
import { child, children } from '../record.js'
import { partnerOf, saidBy, saidHtml, spoken } from '../said.js'
import { codeHtml, countryName, statusName, type View } from '../view.js'

/** The facts about a project, and the way to their sources. */
export function factsSection(shown: ShownProject): Html {
  const { project } = shown.view.words
  const facts = factsOf(shown).filter(([, value]) => value !== undefined)
  return html`<h2>${project.facts}</h2><dl class="facts">
${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
<p><a href="${to(shown.view, 'projects', String(shown.entry.project), 'why')}" rel="nofollow">${project.why}</a></p>`
}

function factsOf({
  view,
  entry,
  activity,
}: ShownProject): (readonly [name: string, value: Html | string | undefined])[] {
  const { groups, project: words } = view.words
  /** Elements with a code as a list, each with its share where it has one. */
  const coded = (name: string, named: (code: string, vocabulary: string) => Html, of?: readonly string[]) => {
    const items = children(activity, name)
      .filter(({ attributes: { vocabulary = '1' } }) => of?.includes(vocabulary) ?? true)
      .map(({ attributes: { code = '', vocabulary = '1', percentage } }) => {
        const digits = percentage?.split('.')[1]?.length ?? 0
        const share = percentage === undefined ? '' : ` ${unitText(view, Number(percentage), 'percent', digits)}`
        return html`${named(code, vocabulary)}${share}`
      })
    return several(items)
  }
  const link = (kind: string, code: string, name: string | Html) => html`<a href="${to(view, kind, code)}">${name}</a>`
  const funders = children(activity, 'participating-org').filter(({ attributes }) => attributes.role === '1')
  const nameOf = (one: Element) => {
    const said = saidBy(view, activity, one)
    return said.text === '' ? html`${one.attributes.ref}` : saidHtml(view, said)
  }
  const places = children(activity, 'location').map((one) => {
    const name = saidHtml(view, saidBy(view, activity, child(one, 'name')))
    return html`${name} ${child(child(one, 'point'), 'pos')?.text}`
  })
  const region = (code: string, vocabulary: string) =>
    vocabulary === '1' ? codeHtml(view, 'Region', code) : html`${code}`
  const goal = (code: string, vocabulary: string) =>
    html`${code} ${codeHtml(view, vocabulary === '2' ? 'UNSDG-Goals' : 'UNSDG-Targets', code)}`
  return [
    [words.status, statusName(view, entry.status)],
    [words.start, dateOf({ view, activity }, '2', '1')],
    [words.end, dateOf({ view, activity }, '4', '3')],
    [groups.countries, coded('recipient-country', (code) => link('countries', code, countryName(view, code)))],
    [words.regions, coded('recipient-region', region)],
    [words.place, several(places)],
    [words.partner, entry.partner && partnerLink(view, entry, entry.partner)],
    [words.funders, several(funders.map(nameOf))],
    [groups.sectors, coded('sector', (code) => link('sectors', code, codeHtml(view, 'Sector', code)), ['1'])],
    [words.goals, coded('tag', goal, ['2', '3'])],
    [words.identifier, html`<code>${entry.identifier}</code>`],
    [words.changed, dayText(view, entry.changed)],
  ]
}

function several(items: readonly Html[]): Html | undefined {
  return items.length < 2 ? items[0] : html`<ul>${items.map((one) => html`<li>${one}</li>\n`)}</ul>`
}

/** The partner, with the way to its projects. */
export function partnerLink(view: View, entry: ActivityEntry, partner: NonNullable<ActivityEntry['partner']>): Html {
  const name = partnerOf(view, entry)
  return html`<a href="${to(view, 'organisations', organisationId(partner))}"${spoken(view, name)}>${name.text}</a>`
}

/** The actual day, else the planned one. */
function dateOf({ view, activity }: Pick<ShownProject, 'view' | 'activity'>, actual: string, planned: string) {
  const dates = children(activity, 'activity-date')
  const found = [actual, planned].flatMap((type) => dates.find(({ attributes }) => attributes.type === type) ?? [])[0]
  const { type = '', 'iso-date': day } = found?.attributes ?? {}
  const note = type === planned ? html` (${view.words.statuses['1']})` : undefined
  return day && html`${dayText(view, day)}${note}`
}
