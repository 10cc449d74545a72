import { type Html, html } from '../../../http/pages/html.js'
import { cut, dayText, table } from '../../../http/pages/page.js'
import type { Element } from '../../../kernel/xml/element.js'
import type { ShownProject } from '../read-project.js'
import { child, children } from '../record.js'
import { saidBy, spoken } from '../said.js'
import type { View } from '../view.js'

const shownCharacters = 160

/**
 * The results of a project: of each indicator its baseline, and target and actual of each period. One without values whose
 * project has reports is made of them (iati.md 11.1).
 */
export function resultSection({ view, activity, reports }: ShownProject): Html {
  const { project } = view.words
  const indicators = children(activity, 'result').flatMap((result) =>
    children(result, 'indicator').flatMap((indicator) => {
      if (reports.length > 0 && !hasValue(indicator)) return []
      const titles = [result, indicator].map((of) => saidBy(view, activity, child(of, 'title')))
      const told = titles.filter(({ text }) => text !== '')
      const caption = told.map(({ text }) => text).join(': ')
      const language = told[0]?.language ?? view.language
      const baselines = children(indicator, 'baseline')
      const periods = children(indicator, 'period')
      const hasTarget = periods.some((period) => child(period, 'target'))
      const values = (target: Element | undefined, actual: Element | undefined) =>
        hasTarget ? [target, actual] : [actual]
      const rows = [
        ...baselines.map((baseline) => row(view, activity, html`${project.baseline}`, values(undefined, baseline))),
        ...periods.map((period) => {
          const day = (part: string) => dayText(view, child(period, part)?.attributes['iso-date'] ?? '')
          const name = html`${day('period-start')} – ${day('period-end')}`
          return row(view, activity, name, values(child(period, 'target'), child(period, 'actual')))
        }),
      ]
      return table(
        { text: caption, attributes: spoken(view, { language }) },
        [project.period, ...(hasTarget ? [project.target] : []), project.actual],
        rows,
        3,
      )
    }),
  )
  return indicators.length === 0 ? html`` : html`<h2>${project.results}</h2>${indicators}`
}

function hasValue(indicator: Element): boolean {
  const stated = indicator.children.flatMap((one) => [one, ...one.children])
  return stated.some(({ attributes }) => attributes.value !== undefined)
}

function row(view: View, activity: Element, name: Html, values: readonly (Element | undefined)[]): Html {
  const cells = values.map((one) => textOf(view, activity, one))
  return html`<tr><th scope="row">${name}</th>${cells}</tr>\n`
}

/** The value, and the comment where there is one. */
function textOf(view: View, activity: Element, one: Element | undefined): Html {
  const comment = saidBy(view, activity, child(one, 'comment'))
  const texts = [one?.attributes.value ?? '', comment.text].filter((text) => text !== '')
  return html`<td${spoken(view, comment)}>${cut(texts.join(' – '), shownCharacters)}</td>`
}
