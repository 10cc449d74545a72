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
      const values = (target: readonly Element[], actual: readonly Element[]) =>
        hasTarget ? [target, actual] : [actual]
      const rows = [
        ...baselines.map((baseline) => row(view, activity, html`${project.baseline}`, values([], [baseline]))),
        ...periods.map((period) => {
          const day = (part: string) => dayText(view, child(period, part)?.attributes['iso-date'] ?? '')
          const name = html`${day('period-start')} – ${day('period-end')}`
          return row(view, activity, name, values(children(period, 'target'), children(period, 'actual')))
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

function row(view: View, activity: Element, name: Html, values: readonly (readonly Element[])[]): Html {
  const cells = values.map((one) => textOf(view, activity, one))
  return html`<tr><th scope="row">${name}</th>${cells}</tr>\n`
}

/** The values, each with the part that it is of and the comment, where there are any. */
function textOf(view: View, activity: Element, all: readonly Element[]): Html {
  const comments = all.map((one) => saidBy(view, activity, child(one, 'comment')))
  const texts = all.map((one, at) => {
    const parts = children(one, 'dimension').map(({ attributes: { name, value } }) => `${name}: ${value}`)
    const value = [one.attributes.value ?? '', ...(parts.length > 0 ? [`(${parts.join(', ')})`] : [])].join(' ')
    return [value, comments[at]?.text ?? ''].filter((text) => text !== '').join(' – ')
  })
  const [comment = { language: view.language }] = comments.filter(({ text }) => text !== '')
  return html`<td${spoken(view, comment)}>${cut(texts.join('; '), shownCharacters)}</td>`
}
