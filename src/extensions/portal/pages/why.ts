import type { ExplainedProject, Origin } from '../../../http/pages/explained.js'
import { type Html, html } from '../../../http/pages/html.js'
import { countText, cut, dayText, type PageBody, to } from '../../../http/pages/page.js'
import type { AssumptionName } from '../../../iati/mapping/assumptions.js'
import type { Element } from '../../../kernel/xml/element.js'
import { readRecord } from '../read-project.js'
import { type Said, saidHtml, spoken, titleOf } from '../said.js'
import type { View } from '../view.js'

// A record may have thousands of values: the page has the first of each element.
const mostValues = 16
const mostOrigins = 4
const longest = 120

/** Why something is assumed that no record says; of others that alone is the reason. */
const reasons: Readonly<Record<keyof View['words']['why']['unstated'], readonly AssumptionName[]>> = {
  unset: ['publisher-type', 'language', 'currency'],
  emergency: ['humanitarian', 'budget-not-provided'],
  partner: ['partner-at-home', 'partner-from-abroad'],
  day: ['planned-start', 'actual-start'],
  shares: ['country-shares', 'sector-shares'],
  gifts: ['flow-type', 'finance-type', 'aid-type'],
  goal: ['budget-status'],
  record: [],
}

/** `/projects/{id}/why`: where each published value comes from; undefined where the project has no published record. */
export async function whyPage(view: View, id: string): Promise<PageBody | undefined> {
  const shown = await readRecord(view, id)
  if (!shown) return undefined
  const { entry, activity } = shown
  const { why } = view.words
  const explained = await view.explain?.(entry.project)
  const title = titleOf(view, entry)
  const { 'last-updated-datetime': _, ...attributes } = activity.attributes
  const own = attributes['xml:lang'] ?? 'en'
  const byName = new Map<string, Value[]>(
    Object.entries(attributes).map(([name, text]) => [`@${name}`, [{ path: `@${name}`, text }]]),
  )
  for (const child of activity.children)
    byName.set(child.name, [...(byName.get(child.name) ?? []), ...valuesOf(child, own)])
  return {
    title: `${view.words.project.why} ${cut(title.text, 80)}`,
    description: why.intro,
    section: 'projects',
    isUnlisted: true,
    main: html`<p class="path"><a href="${to(view, 'projects', id)}"${spoken(view, title)}>${title.text}</a></p>
<h1>${view.words.project.why}</h1><p class="lead">${why.intro}</p>
${[...byName].map(([name, values]) => section(view, name, values, explained))}`,
  }
}

/** A text or an attribute; a narrative has a language. */
type Value = { readonly path: string } & Pick<Said, 'text'> & Partial<Said>

function valuesOf({ name, attributes, children, text }: Element, own: string, above = ''): Value[] {
  const path = `${above}${name}`
  const { 'xml:lang': language = own, ...others } = attributes
  return [
    ...Object.entries(others).map(([attribute, value]) => ({ path: `${path}/@${attribute}`, text: value })),
    ...(children.length === 0 && text !== '' ? [{ path, text, ...(name === 'narrative' && { language }) }] : []),
    ...children.flatMap((child) => valuesOf(child, own, `${path}/`)),
  ]
}

function section(view: View, name: string, values: readonly Value[], explained: ExplainedProject | undefined): Html {
  const { why } = view.words
  const found = explained?.elements.find(({ element }) => element === name)
  const { fields = [], clauses = [], assumed = [] } = found ?? {}
  const origins = originsOf(view, found?.origins ?? [])
  const row = (label: string, items: readonly Html[]) =>
    items.length === 0 ? undefined : html`<dt>${label}</dt>${items.map((item) => html`<dd>${item}</dd>`)}\n`
  const shown = values.slice(0, mostValues).map(({ path, text, language }) => {
    const value = language === undefined ? html`${cut(text, longest)}` : saidHtml(view, { text, language }, longest)
    return html`<code>${path}</code> ${value}`
  })
  const rest = values.length - shown.length
  const isOfAll = found !== undefined && origins.length === 0 && assumed.length === 0
  return html`<section><h2><code>${name}</code></h2><dl class="facts">
${row(why.values, rest > 0 ? [...shown, html`${why.more(countText(view, rest))}`] : shown)}${row(
  why.fields,
  fields.length === 0 ? [] : [html`${fields.map((field) => html`<code>${field}</code> `)}`],
)}${row(why.origin, isOfAll ? [html`${why.ofAll}`] : origins)}${row(
  why.assumed,
  assumed.map(
    ({ name: one }) => html`${reasonOf(view, one)} ${explained?.confirmed === true ? why.confirmed : undefined}`,
  ),
)}${row(why.rule, clauses.length === 0 ? [] : [html`${clauses.map((clause) => html`<code>${clause}</code> `)}`])}</dl></section>
`
}

function reasonOf({ words }: View, name: AssumptionName): string {
  const { unstated } = words.why
  const known = (Object.keys(unstated) as (keyof typeof reasons)[]).find((reason) => reasons[reason].includes(name))
  return unstated[known ?? 'record']
}

/** Where an element came from. Neither files nor keys of records are named: they may be about people. */
function originsOf(view: View, origins: readonly Origin[]): Html[] {
  const { why } = view.words
  const { generated } = view.release.manifest
  const lines = origins.flatMap((one) => ('line' in one && one.at.toISOString() <= generated ? [one] : []))
  const months = origins.flatMap((one) => ('month' in one ? [one.month] : [])).sort()
  const writers = origins.flatMap((one) => ('writer' in one ? [one.writer] : []))
  const [first] = months
  return [
    ...lines.slice(0, mostOrigins).map((one) => lineText(view, one)),
    ...(lines.length > mostOrigins ? [html`${why.more(countText(view, lines.length - mostOrigins))}`] : []),
    ...(first === undefined ? [] : [html`${why.months(first, months.at(-1) ?? first)}`]),
    ...writers.map((writer) => html`${why.writers[writer]}`),
  ]
}

function lineText(view: View, { import: id, at, line, record }: Extract<Origin, { line: number }>): Html {
  const [kind = ''] = record.split(' ')
  const named = view.words.why.line(id ?? '–', dayText(view, at.toISOString()), line)
  return html`${id === undefined ? undefined : html`<code>${kind}</code> `}${named}`
}
